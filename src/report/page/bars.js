/* Bars of efficiencies for each kernel: the figures of Zheng, Zhai, Li, Chen 2016. */

const FIGURES = [
    {title: 'Occupancy', unit: 'ratio', max: 1, series: [
        ['achieved', k => value(k, 'achieved_occupancy')],
        ['theoretical', theoretical]]},
    {title: 'DRAM utilization', unit: 'ratio', max: 1, series: [
        ['of the bandwidth', k => value(k, 'dram_utilization')]]},
    {title: 'FLOP utilization', unit: 'ratio', max: 1, series: [
        ['of the peak', k => value(k, 'flop_utilization')],
        ['time of tensor cores', k => value(k, 'tensor_utilization')]]},
    {title: 'Global memory efficiency', unit: '%', max: 100, series: [
        ['loads', k => value(k, 'gld_efficiency')],
        ['stores', k => value(k, 'gst_efficiency')]]},
    {title: 'Shared memory efficiency', unit: '%', max: 100, series: [
        ['shared', k => value(k, 'shared_efficiency')]]},
    {title: 'Warp execution efficiency', unit: '%', max: 100, series: [
        ['active lanes', k => value(k, 'warp_execution_efficiency')],
        ['with predicate on', k => value(k, 'warp_nonpred_execution_efficiency')]]},
    {title: 'FLOP per byte', unit: 'flop/byte', log: true, series: [
        ['global memory', k => value(k, 'flop_per_byte')]]},
];

const SERIES_COLORS = ['#4c78d8', '#e8a317', '#2fa58f'];

function figureConfig(figure, kernels, series, labels) {
    return {
        type: 'bar',
        data: {
            labels,
            datasets: series.map(([label, of], i) => ({
                label, data: kernels.map(k => k && isNumber(of(k)) ? of(k) : null),
                backgroundColor: SERIES_COLORS[i % SERIES_COLORS.length],
                borderRadius: 2, barPercentage: 0.85, categoryPercentage: 0.75,
            })),
        },
        options: {
            ...clickOpens(element => kernels[element.index]),
            indexAxis: 'y',
            scales: {
                x: figure.log
                    ? {type: 'logarithmic', ticks: {callback: logTick(), maxRotation: 0}}
                    : {min: 0, suggestedMax: figure.max,
                       ticks: {callback: v => figure.unit === '%' ? `${v} %` : v}},
                y: {grid: {display: false}, ticks: {autoSkip: false}},
            },
            plugins: {
                legend: {display: series.length > 1, position: 'bottom'},
                tooltip: {callbacks: {
                    title: items => items.length > 0 ? kernels[items[0].dataIndex].label : '',
                    label: c => `${c.dataset.label}: ${format(c.raw, figure.unit)}`}},
            },
        },
    };
}

/* Without further series that are 0 everywhere. With two profiles the first series stands twice, A
 * beside B. */
function seriesOf(figure, shown) {
    const measured = figure.series.filter(([, of], i) => shown.some(profile =>
        profile.kernels.some(k => i === 0 ? isNumber(of(k)) : of(k) > 0)));
    if (shown.length < 2)
        return measured;
    const main = measured.slice(0, 1);
    return main.flatMap(([label, of]) => [
        [`${label}, A`, k => k.profile === shown[0] ? of(k) : NaN],
        [`${label}, B`, k => { const p = partner(k, shown[1]); return p ? of(p) : NaN; }]]);
}

function barsSection(shown) {
    const all = kernelsOf(shown).sort((x, y) => y.seconds - x.seconds), most = all.length;
    const grid = h('div', {class: 'figures'});
    const section = h('section', {id: 'bars'}, h('h2', {}, 'Efficiencies'));
    const choice = h('select', {'aria-label': 'how many kernels', onchange: draw},
        [10, 20, 50, most].filter((n, i, all) => n <= most && all.indexOf(n) === i)
            .map(n => h('option', {value: n}, n === most ? `all ${n}` : n)));
    if (most < 10)
        choice.replaceChildren(h('option', {value: most}, `all ${most}`));
    function draw() {
        dropChartsIn(grid);
        grid.replaceChildren();
        const kernels = all.slice(0, Number(choice.value));
        const labels = kernels.map(k => shorten(k.label, 24));
        for (const figure of FIGURES) {
            const series = seriesOf(figure, shown);
            if (series.length === 0)
                continue;
            const {canvas, element} = chartFrame(figure.title, '', 'bars',
                `${figure.title} of the kernels with the most time. Arrow keys go through them.`);
            canvas.parentElement.style.height =
                `${70 + kernels.length * (12 + 9 * series.length)}px`;
            grid.append(element);
            walk(canvas, point => openKernel(kernels[point.index]));
            showChart(canvas, () => figureConfig(figure, kernels, series, labels));
        }
        if (!grid.firstChild)
            grid.append(h('p', {class: 'muted'}, 'The profile holds none of these metrics.'));
    }
    section.append(h('div', {class: 'toolbar'},
        h('label', {}, h('span', {class: 'muted'}, 'Kernels with the most time '), choice)), grid);
    section.show = draw;
    return section;
}
