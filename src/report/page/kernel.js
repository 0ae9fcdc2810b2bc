/* The page of one kernel: its launch configuration, advice, the limits of its occupancy and how it would
 * change, its metrics, why its warps wait, source lines, launches over time. */

const openKernel = kernel => go(kernelLink(kernel));

function fact(name, text, note) {
    return h('div', {class: 'fact'}, h('dt', {}, name), h('dd', {}, text, note &&
        h('span', {class: 'muted'}, ` ${note}`)));
}

function launchFacts(kernel) {
    const o = kernel.occupancy, shared = kernel.shared[0] + kernel.shared[1];
    return h('dl', {class: 'facts'},
        fact('GPU time', kernel.timed ? format(kernel.seconds, 's') : '–',
             isNumber(kernel.share) ? shareText(kernel) : ''),
        fact('Launches', grouped(kernel.launches),
             kernel.measured < kernel.launches ? `${grouped(kernel.measured)} measured` : ''),
        fact('Average', format(averageTime(kernel), 's')),
        fact('Grid', kernel.grids > 1 ? `${extent(kernel.smallest_grid)} … ${extent(kernel.grid)}`
                                      : extent(kernel.grid),
             kernel.grids > 1 ? `${kernel.grids} grids` : ''),
        fact('Block', extent(kernel.block), kernel.block[1] * kernel.block[2] > 1
            ? `${kernel.block.reduce((a, b) => a * b)} threads` : 'threads'),
        kernel.cluster[0] > 0 && fact('Cluster', extent(kernel.cluster)),
        fact('Registers', kernel.registers || 'not known', 'per thread'),
        fact('Shared memory', format(shared, 'bytes'), 'per block'),
        kernel.local > 0 && fact('Local memory', format(kernel.local, 'bytes'), 'per thread'),
        fact('Occupancy', `${format(value(kernel, 'achieved_occupancy'), 'ratio')}`,
             o.why ? '' : `of ${format(theoretical(kernel), 'ratio')} that fit`));
}

/* ---- advice ---- */

function adviceItem(advice, kernel) {
    return h('li', {},
        kernel && h('a', {href: kernelLink(kernel), title: kernel.name}, breakable(kernel.label)),
        kernel && ': ', advice.text,
        h('div', {class: 'muted'}, advice.evidence),
        h('div', {class: 'tags'},
            h('span', {class: 'tag gain', title: 'estimated'}, gainText(advice)),
            advice.where && h('span', {class: 'tag'}, advice.where),
            h('span', {class: 'tag muted', title: advice.source}, advice.rule)));
}

function gainText(advice) {
    return `saves ${advice.saves} of ${advice.of}` +
        (advice.kernel >= 0 ? ` (${advice.saves_kernel} of the kernel’s)` : '');
}

/* "DRAM, 93 %": the bound of a kernel and how much of it is used. */
function boundText(kernel) {
    const b = kernel.bound;
    return b.of_unit ? `${b.by} ${percent(b.utilization)}${b.at_roof ? ' (roof)' : ''}` : b.by;
}

function boundSection(kernel) {
    const b = kernel.bound, units = b.units.filter(([, closeness]) => isNumber(closeness));
    const section = h('section', {}, h('h2', {}, 'Bound'));
    if (!b.known) {
        section.append(h('p', {class: 'muted'}, `Not known: ${b.why}`));
        return section;
    }
    section.append(h('p', {}, h('b', {}, b.by), b.share < 0.995 && `, in ${percent(b.share)} of its time`, b.of_unit
        ? ` (${percent(b.utilization)} used${b.at_roof ? ': at its roof, only less work helps' : ''})`
        : isNumber(b.closeness) && `; the busiest unit is ${b.unit} (${percent(b.utilization)} used)`, '.',
        b.balanced && ' The next unit is about as busy.'));
    units.sort((x, y) => y[1] - x[1]);
    section.append(framed(h('table', {class: 'plain units'},
        h('thead', {}, h('tr', {}, h('th', {scope: 'col'}, 'Unit'), withRaw('Closeness [ratio]',
            h('th', {scope: 'col'}, 'How near it is to the rate that it reaches in practice')))),
        h('tbody', {}, units.map(([title, closeness]) => h('tr', {}, h('th', {scope: 'row'}, title),
            withRaw(closeness, barCell(closeness, percent(closeness))))))), `bound of ${kernel.label}`));
    return section;
}

function adviceSection(kernel) {
    const list = kernel.advice.length > 0
        ? h('ul', {class: 'advice'}, kernel.advice.map(a => adviceItem(a)))
        : h('p', {class: 'muted'}, kernel.measured > 0 ? 'No rule of advice applies.'
                                                       : 'None of its launches was measured.');
    return h('section', {}, h('h2', {}, 'Advice'), list);
}

/* ---- occupancy ---- */

const CURVES = [
    {id: 'block', title: 'by threads per block', now: k => k.block.reduce((a, b) => a * b), step: 128},
    {id: 'registers', title: 'by registers per thread', now: k => k.registers, step: 32},
    {id: 'shared', title: 'by shared memory per block', now: k => k.shared[0] + k.shared[1],
     step: 32768, tick: bytes => `${Math.round(bytes / 1024)} KiB`},
];

function curveConfig(kernel, curve) {
    const {first, step, warps} = kernel.occupancy.curves[curve.id];
    const now = curve.now(kernel);
    const show = curve.tick || (v => v);
    return {
        type: 'line',
        data: {datasets: [
            {label: 'now', data: [{x: now, y: kernel.occupancy.warps}], showLine: false,
             pointRadius: 6, pointHoverRadius: 8, pointBackgroundColor: '#e4572e',
             pointBorderColor: cssColor('--panel'), pointBorderWidth: 2},
            {label: 'warps', data: warps.map((y, i) => ({x: first + i * step, y})),
             stepped: curve.id === 'block' ? false : 'after', borderColor: '#4c78d8', borderWidth: 2,
             pointRadius: curve.id === 'block' ? 2 : 0, pointHitRadius: 8},
        ]},
        options: {
            clip: 8,
            scales: {
                x: {type: 'linear', min: 0, max: first + step * (warps.length - 1),
                    ticks: {callback: show, stepSize: curve.step, maxRotation: 0}},
                y: {min: 0, max: kernel.occupancy.max_warps, title: {display: true, text: 'warps per SM'}},
            },
            plugins: {legend: {display: false}, tooltip: {callbacks: {
                title: items => items.length > 0 ? `${show(items[0].parsed.x)} ${curve.title.slice(3)}` : '',
                label: c => c.parsed.y === 0 ? 'cannot be launched'
                    : `${c.parsed.y} of ${kernel.occupancy.max_warps} warps` +
                      (c.datasetIndex === 0 ? ', as it is' : ''),
            }}},
        },
    };
}

const LIMITS = [['warps', 'threads and warps'], ['registers', 'registers'],
                ['shared', 'shared memory'], ['blocks', 'blocks per SM'], ['barriers', 'barriers']];

function limitsTable(o) {
    const known = LIMITS.filter(([id]) => isNumber(o.limits?.[id]));
    if (known.length === 0)
        return null;
    return h('table', {class: 'plain'}, h('thead', {}, h('tr', {},
            ['Limited by', 'Blocks that fit on an SM', ''].map(text => h('th', {scope: 'col'}, text)))),
        h('tbody', {}, known.map(([id, name]) =>
            h('tr', {class: o.limits[id] === o.blocks ? 'limiting' : ''}, h('th', {scope: 'row'}, name),
              h('td', {}, o.limits[id]),
              h('td', {class: 'muted'}, o.limits[id] === o.blocks ? 'the limit' : '')))));
}

function occupancySection(kernel) {
    const o = kernel.occupancy, section = h('section', {}, h('h2', {}, 'Occupancy'));
    if (o.why) {
        section.append(h('p', {class: 'muted'}, `Not known: ${o.why}.`));
        return section;
    }
    section.append(h('p', {},
        `${plural(o.blocks, 'block')} and ${o.warps} of ${o.max_warps} warps fit on an SM`,
        o.warps < o.max_warps && [', limited by ', h('b', {}, o.limiter)], '. Achieved: ',
        h('b', {}, format(value(kernel, 'achieved_occupancy'), 'ratio')), '.'));
    const figures = h('div', {class: 'figures'});
    const frames = CURVES.map(curve => ({curve, ...chartFrame(curve.title, '', 'small',
        `Warps per SM ${curve.title}. Arrow keys go along the line.`)}));
    add(figures, frames.map(f => f.element));
    const limits = limitsTable(o);
    add(section, [limits && framed(limits, `occupancy of ${kernel.label}`), h('p', {class: 'muted'},
        'How many warps would fit if one thing changed and all else stayed; the dot is the kernel ' +
        'as it is.'), figures]);
    section.show = () => frames.forEach(({canvas, curve}) => {
        walk(canvas);
        showChart(canvas, () => curveConfig(kernel, curve));
    });
    return section;
}

/* ---- metrics ---- */

function statCells(s, unit) {
    if (!s || s.why)
        return [withRaw('', h('td', {class: 'muted', title: s?.why}, 'absent')), h('td'), h('td')];
    return [withRaw(s.mean, h('td', {}, format(s.mean, unit), s.combined && h('span', {class: 'muted',
        title: 'from the means of counters of several launches'}, ' *'), s.launches && h('span', {class: 'muted'},
        ` of ${plural(s.launches, 'launch')}`))),
        [s.min, s.max].map(v => s.combined || s.launches ? h('td') : withRaw(v, h('td', {class: 'muted'}, format(v, unit))))];
}

function metricRow(kernel, other, metric) {
    const s = stat(kernel, metric.name), t = other && stat(other, metric.name);
    return h('tr', {},
        withRaw([metric.name, metric.unit], h('th', {scope: 'row'}, breakable(metric.name))),
        other ? [s?.mean, t?.mean].map(v => withRaw(v ?? '', h('td', {}, format(v, metric.unit))))
              : statCells(s, metric.unit),
        other && withRaw(t?.mean / s?.mean, h('td', {}, change(s?.mean, t?.mean))),
        h('td', {class: 'meaning', title: metric.formula && `= ${metric.formula}`}, metric.description));
}

/* Each reason once, with the metrics that are absent for it. */
function whyAbsent(kernel) {
    const reasons = new Map();
    for (const metric of kernel.profile.metrics) {
        const why = stat(kernel, metric.name)?.why?.replace(/^(\S+: )?counter \S+: /, '');
        if (why)
            reasons.set(why, [...(reasons.get(why) || []), metric.name]);
    }
    return [...reasons].map(([why, names]) => h('p', {class: 'muted'},
        h('span', {title: names.join(', ')}, names.length > 3 ? plural(names.length, 'metric') : names.join(', ')),
        ` absent: ${why}`));
}

function metricsSection(kernel, other) {
    const classes = new Map();
    for (const metric of kernel.profile.metrics) {
        if (!stat(kernel, metric.name) && !(other && stat(other, metric.name)))
            continue;
        const name = metric.class || 'other';
        classes.set(name, [...(classes.get(name) || []), metric]);
    }
    const heads = [...(other ? ['A', 'B', 'B to A'] : ['mean', 'least', 'most']), 'meaning'];
    const body = [...classes].map(([name, metrics]) => h('tbody', {},
        h('tr', {class: 'class'}, h('th', {scope: 'rowgroup', colspan: heads.length + 1}, name)),
        metrics.map(metric => metricRow(kernel, other, metric))));
    return h('section', {}, h('h2', {}, 'Metrics'), whyAbsent(kernel), framed(h('table', {class: 'metrics'},
        h('thead', {}, h('tr', {}, withRaw(['Metric', 'Unit'], h('th', {scope: 'col'}, 'metric')),
            heads.map(text => h('th', {scope: 'col'}, text)))), body), `metrics of ${kernel.label}`));
}

/* ---- source ---- */

const fileName = path => path.slice(path.lastIndexOf('/') + 1);

/* Samples of a line, in the color of the reason that most of them have; with the code inlined there, where that
 * is more. */
function heatCells(line, hottest) {
    const {heat = 0, heat_inlined: inlined = 0, reasons = []} = line;
    const cell = withRaw(heat || '', heat ? barCell(heat / hottest, percent(heat)) : h('td'));
    cell.style.setProperty('--bar-color', `${stallColor(reasons)}66`);
    return [cell, withRaw(inlined > heat ? inlined : '', h('td', {class: 'muted'}, inlined > heat && percent(inlined))),
            withRaw(reasons[0]?.[0] ?? '', h('td', {class: 'reason', title: reasonsText(reasons)}, reasons[0]?.[0]))];
}

function sourceRow(line, names, most, hottest) {
    return h('tr', {}, withRaw(line.file ? `${line.file}:${line.line}` : '', h('th', {scope: 'row', title: line.file},
            line.file ? `${fileName(line.file)}:${line.line}` : 'no line')),
        hottest > 0 && heatCells(line, hottest),
        names.map(name => {
            const count = line.counts[name];
            return withRaw(count ?? '', count ? barCell(count / most[name], grouped(count)) : h('td'));
        }), h('td', {class: 'code'}, line.text, (line.chains ?? []).map((chain, i) => h('div', {class: 'muted'},
            `inlined at ${chain}`, line.more_chains && i + 1 === line.chains.length && '; and through more calls'))));
}

function sourceSection(kernel) {
    if (!kernel.source || kernel.source.length === 0)
        return null;
    const most = {};
    for (const line of kernel.source)
        for (const [name, count] of Object.entries(line.counts))
            most[name] = Math.max(most[name] || 0, count);
    const names = Object.keys(most), hottest = Math.max(...kernel.source.map(line => line.heat ?? 0));
    return h('section', {}, h('h2', {}, 'Source'), h('p', {class: 'muted'},
        `Lines with at least ${percent(kernel.source_share)} of something: counts of one launch`,
        hottest > 0 && ', samples of where its warps were', '. ',
        h('code', {}, 'gpuprof source'), ' prints all of it.'),
        framed(h('table', {class: 'source'}, h('thead', {}, h('tr', {},
            ['line', ...(hottest > 0 ? ['samples', 'with inlined', 'most of them'] : []), ...names, 'source'].map(text =>
                h('th', {scope: 'col'}, text)))),
        h('tbody', {}, kernel.source.map(line => sourceRow(line, names, most, hottest)))),
        `source of ${kernel.label}`, {tall: true}));
}

/* ---- launches over time ---- */

const MOST_POINTS = 1500;

/* At most so many launches: of each stretch the least and the greatest. */
function thinned(points) {
    if (points.length <= MOST_POINTS)
        return points;
    const kept = [], stretch = Math.ceil(2 * points.length / MOST_POINTS);
    for (let i = 0; i < points.length; i += stretch) {
        const some = points.slice(i, i + stretch);
        const least = some.reduce((a, b) => b.y < a.y ? b : a);
        const most = some.reduce((a, b) => b.y > a.y ? b : a);
        kept.push(...(least.x <= most.x ? [least, most] : [most, least]).slice(0, least === most ? 1 : 2));
    }
    return kept;
}

function launchPoints(kernel, metric) {
    const launches = launchesOf(kernel.profile), values = launches.metric(metric), points = [];
    for (let i = 0; values && i < launches.count; i++)
        if (launches.kernel[i] === kernel.number && isFinite(values[i]))
            points.push({x: launches.index[i], y: values[i]});
    return points;
}

function launchesConfig(kernel, metric) {
    const unit = metricOf(kernel.profile, metric)?.unit || '';
    const points = thinned(launchPoints(kernel, metric));
    return {
        type: 'scatter',
        data: {datasets: [{label: metric, data: points, pointRadius: points.length > 300 ? 1.5 : 3,
                           pointBackgroundColor: kernel.color, pointBorderWidth: 0}]},
        options: {
            scales: {x: {title: {display: true, text: 'launch of the program'}, ticks: {maxTicksLimit: 8}},
                     y: {beginAtZero: true, ticks: {callback: v => shortNumber(v, unit)}}},
            plugins: {legend: {display: false}, tooltip: {callbacks: {
                label: c => `launch ${grouped(c.parsed.x)}: ${format(c.parsed.y, unit)}`}}},
        },
    };
}

function overTimeSection(kernel) {
    const launches = launchesOf(kernel.profile);
    const names = launches.names.filter(name => launchPoints(kernel, name).length > 1);
    if (names.length === 0)
        return null;
    const {canvas, element} = chartFrame('Launches over time', '', 'small',
        'A metric of each launch. Arrow keys go from launch to launch.');
    const choice = h('select', {'aria-label': 'metric', onchange: () => draw()},
        names.map(name => h('option', {value: name}, name)));
    const draw = () => showChart(canvas, () => launchesConfig(kernel, choice.value));
    const section = h('section', {}, h('h2', {}, 'Launches over time'),
        h('div', {class: 'toolbar'}, choice), element);
    walk(canvas);
    section.show = draw;
    return section;
}

/* ---- all of it ---- */

/* The kernels before and behind this one, in the table's order where it is in the table. */
function neighbours(kernel) {
    const shown = kernelsShown(shownProfiles());
    const list = shown.includes(kernel) ? shown : kernel.profile.kernels, at = list.indexOf(kernel);
    return {at, count: list.length, last: list[at - 1], next: list[at + 1]};
}

function kernelPage(kernel, other) {
    const match = partner(kernel, other), {at, count, last, next} = neighbours(kernel);
    const dot = h('span', {class: 'dot'});
    dot.style.background = kernel.color;
    const sections = [launchFacts(kernel), boundSection(kernel), adviceSection(kernel), occupancySection(kernel),
                      metricsSection(kernel, match), stallsSection(kernel), sourceSection(kernel),
                      overTimeSection(kernel)];
    return {sections: sections.filter(Boolean), head: h('header', {class: 'kernel-head'},
        h('nav', {class: 'toolbar', 'aria-label': 'kernels'},
            h('a', {href: '#kernels', class: 'button'}, '← all kernels'),
            last && h('a', {href: kernelLink(last), class: 'button', rel: 'prev'}, 'previous'),
            next && h('a', {href: kernelLink(next), class: 'button', rel: 'next'}, 'next'),
            h('span', {class: 'muted'}, `${grouped(at + 1)} of ${plural(count, 'kernel')}`)),
        h('h1', {tabindex: -1}, dot, kernel.brief),
        kernel.name !== kernel.brief && h('div', {class: 'full-name'}, folded(kernel.name)),
        other && h('p', {class: 'muted'}, match ? `Beside it, as B: ${match.name} [${extent(match.block)}]`
                                            : 'Profile B has no launch of it.'))};
}
