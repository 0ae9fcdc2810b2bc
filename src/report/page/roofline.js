/* The roofline: each kernel's FLOP/s over its FLOP per byte, log-log, below the roofs of the device.
 * Bytes are those of one level of the memory; each has its own roof. */

const LEVELS = [
    {name: 'DRAM', roof: 'DRAM', metrics: ['dram_read_bytes', 'dram_write_bytes'],
     bytes: (read, write) => read + write, says: 'bytes between L2 and device memory'},
    {name: 'L2', roof: 'L2', metrics: ['l2_bytes'], bytes: bytes => bytes,
     says: 'bytes that all units asked of L2'},
    {name: 'L1', roof: 'L1', metrics: ['gld_transactions', 'gst_transactions'],
     bytes: (load, store) => 32 * (load + store),
     says: 'sectors of 32 bytes that global loads and stores moved through L1'},
];

/* Kernels with so much of the time have their names in the picture. */
const NAMED_SHARE = 0.02;

/* Profiles of older versions have no counts of tensor cores. */
function flopsOf(kernel) {
    const all = value(kernel, 'flops');
    return isNumber(all) ? all : value(kernel, 'flops_without_tensor');
}

/* {x, y, kernel} or null where something was not measured, or is nothing. */
function rooflinePoint(kernel, level) {
    const flops = flopsOf(kernel), seconds = value(kernel, 'duration');
    const bytes = level.bytes(...level.metrics.map(name => value(kernel, name)));
    const x = flops * seconds / bytes;
    return isNumber(x) && x > 0 && flops > 0 ? {x, y: flops, kernel} : null;
}

function rooflineBounds(points, roofs) {
    const xs = points.map(p => p.x), ys = points.map(p => p.y);
    const rates = roofs.filter(r => r.of === 'flop').map(r => r.nominal ?? r.measured);
    const bands = roofs.filter(r => r.of === 'bytes').map(r => r.nominal ?? r.measured);
    const ridges = rates.flatMap(rate => bands.map(band => rate / band));
    const down = v => 10 ** Math.floor(Math.log10(v) - 0.1);
    const up = v => 10 ** Math.ceil(Math.log10(v) + 0.1);
    return {
        minX: down(Math.min(0.1, ...xs)), maxX: up(Math.max(100, ...xs, ...ridges)),
        minY: down(Math.min(1e11, ...ys)), maxY: up(Math.max(1e12, ...ys, ...rates)),
    };
}

function roofDatasets(roofs, level, b) {
    const best = kind => Math.max(...roofs.filter(r => r.of === 'flop').map(r => r[kind] ?? 0));
    const lines = [];
    for (const roof of roofs) {
        for (const kind of ['nominal', 'measured']) {
            const rate = roof[kind];
            if (!isNumber(rate) || (roof.of === 'bytes' && roof.name !== level.roof))
                continue;
            const band = roofs.find(r => r.name === level.roof)?.[kind];
            const top = best(kind) || best('nominal');
            const from = roof.of === 'bytes' ? b.minX : isNumber(band) ? rate / band : b.minX;
            const to = roof.of === 'bytes' ? (top > 0 ? top / rate : b.maxX) : b.maxX;
            const y = x => roof.of === 'bytes' ? rate * x : rate;
            lines.push({
                isRoof: true, type: 'line', label: `${roof.name}, ${kind}`,
                roof,
                data: [{x: from, y: y(from)}, {x: to, y: y(to)}],
                borderColor: cssColor(kind === 'measured' ? '--roof-measured' : '--roof'),
                borderWidth: kind === 'measured' ? 2 : 1.5,
                borderDash: kind === 'measured' ? [] : [6, 4],
                pointRadius: 0, pointHitRadius: 0, fill: false, kind,
            });
        }
    }
    return lines;
}

function pointDataset(points, label, style) {
    return {
        type: 'scatter', label, data: points, pointStyle: style,
        pointRadius: points.map(p => 4 + 12 * Math.sqrt(p.kernel.share || 0)),
        pointHoverRadius: points.map(p => 6 + 12 * Math.sqrt(p.kernel.share || 0)),
        pointBackgroundColor: points.map(p => `${p.kernel.color}cc`),
        pointBorderColor: points.map(() => cssColor('--panel')), pointBorderWidth: 1.5,
    };
}

function rooflineTooltip(raw, level) {
    const {kernel, x, y} = raw, roofs = deviceOf(kernel)?.roofs || [];
    const band = roofs.find(r => r.name === level.roof);
    const lines = [`${format(y, 'flop/s')} at ${digits(x)} FLOP/byte (${level.name})`];
    if (band && isNumber(band.nominal))
        lines.push(`${percent(y / x / band.nominal)} of the nominal bandwidth of ${level.name}`);
    if (isNumber(kernel.share))
        lines.push(`${shareText(kernel)} of the GPU time`);
    return lines;
}

const pointsOf = (kernels, level) => kernels.map(k => rooflinePoint(k, level)).filter(Boolean);

/* The kernels of a profile that are shown: of the first one in the order of the table. */
const inOrder = (profile, shown) =>
    (profile === shown[0] ? kernelsShown(shown).filter(k => k.profile === profile) : profile.kernels.filter(isShown));

/* The picture is that of all kernels, whichever of them are shown. */
function rooflineConfig(shown, level) {
    const sets = shown.map(profile => ({profile, points: pointsOf(inOrder(profile, shown), level)}));
    const roofs = shown[0].devices[0]?.roofs || [];
    const b = rooflineBounds(shown.flatMap(profile => pointsOf(profile.kernels, level)), roofs);
    const datasets = sets.map((s, i) => pointDataset(
        s.points, shown.length > 1 ? `profile ${s.profile.letter}` : 'kernels',
        i === 0 ? 'circle' : 'rectRot'));
    const kernelAt = (element, chart) =>
        chart.data.datasets[element.datasetIndex].data[element.index].kernel;
    return {
        data: {datasets: [...datasets, ...roofDatasets(roofs, level, b)]},
        plugins: [names],
        options: {
            ...clickOpens(kernelAt),
            clip: true,
            scales: {
                x: {type: 'logarithmic', min: b.minX, max: b.maxX, afterBuildTicks: keepDecades,
                    ticks: {callback: logTick(), maxRotation: 0},
                    title: {display: true, text: `FLOP per byte (${level.name})`}},
                y: {type: 'logarithmic', min: b.minY, max: b.maxY, afterBuildTicks: keepDecades,
                    ticks: {callback: logTick('flop/s')}},
            },
            plugins: {
                legend: {display: shown.length > 1,
                         labels: {usePointStyle: true, filter: item => item.datasetIndex < datasets.length}},
                tooltip: {filter: item => !item.dataset.isRoof, callbacks: {
                    title: items => items.length > 0 ? inLines(items[0].raw.kernel.label, 60) : '',
                    label: context => rooflineTooltip(context.raw, level)}},
            },
        },
    };
}

/* "DRAM 4.81 TB/s nominal, 4.2 TB/s measured". */
function roofText(roof) {
    const unit = roof.of === 'bytes' ? 'bytes/s' : 'flop/s';
    const of = kind => isNumber(roof[kind]) && `${shortNumber(roof[kind], unit)} ${kind}`;
    return `${roof.name} ${[of('nominal'), of('measured')].filter(Boolean).join(', ')}`;
}

function rooflineNote(shown, level) {
    const [profile] = shown, roofs = profile.devices[0]?.roofs || [];
    const drawn = roofs.filter(r => (r.of === 'flop' || r.name === level.roof) &&
                                    (isNumber(r.nominal) || isNumber(r.measured)));
    const absent = profile.kernels.filter(k => isShown(k) && !rooflinePoint(k, level));
    const none = absent.filter(k => flopsOf(k) === 0).length;
    return [filterNote(shown), h('p', {class: 'muted'}, `Bytes: ${level.says}. Dashed: computed from the `,
        'device’s clock and units; solid: measured on such a device. The larger a point, the more time. ',
        drawn.length > 0 && `Roofs: ${drawn.map(roofText).join('; ')}. `,
        !roofs.some(r => r.name === level.roof) && `The roof of ${level.roof} is not known for this device. `,
        none > 0 && `${plural(none, 'kernel')} without floating-point operations not shown. `,
        absent.length > none &&
            `${plural(absent.length - none, 'kernel')} without these numbers not shown.`)];
}

function rooflineSection(shown) {
    const levels = LEVELS.filter(level => shown.some(profile =>
        profile.kernels.some(kernel => rooflinePoint(kernel, level))));
    const section = h('section', {id: 'roofline'}, h('h2', {}, 'Roofline'));
    if (levels.length === 0) {
        const zero = shown[0].kernels.some(k => flopsOf(k) === 0);
        section.append(h('p', {class: 'muted'}, zero
            ? 'No kernel made a floating-point operation that is counted.'
            : 'The profile lacks the metrics for it: flops and the bytes of a level of memory.'));
        return section;
    }
    const {canvas, element} = chartFrame('FLOP/s over FLOP per byte', '', 'tall',
        'Roofline: FLOP/s of each kernel over its FLOP per byte. Arrow keys go through the kernels, Enter opens one.');
    const note = h('div');
    let level = levels[0];
    const buttons = levels.map(of => h('button', {
        type: 'button', 'aria-pressed': 'false', onclick: () => { level = of; show(); }}, of.name));
    function show() {
        buttons.forEach((button, i) =>
            button.setAttribute('aria-pressed', String(levels[i] === level)));
        showChart(canvas, () => rooflineConfig(shown, level));
        replace(note, rooflineNote(shown, level));
    }
    section.append(h('div', {class: 'toolbar', role: 'group', 'aria-label': 'bytes of'},
        h('span', {class: 'muted'}, 'Bytes of'), buttons), element, note);
    walk(canvas, (point, chart) =>
        openKernel(chart.data.datasets[point.datasetIndex].data[point.index].kernel));
    section.show = section.refilter = show;
    return section;
}
