/* Bars of efficiencies: the figures of Zheng, Zhai, Li, Chen 2016. Each is a table, the kernels first of
 * which the missing part stands for the most time. A kernel is judged by the first of the bars beside each
 * other, unless the figure has a `share` of its own. */

const FIGURES = [
    {title: 'Occupancy', unit: 'ratio', judged: 'achieved', series: [
        ['achieved', 'achieved_occupancy'], ['theoretical', 'theoretical_occupancy', theoretical]]},
    {title: 'Global memory efficiency', unit: '%', judged: 'the lower one', share: k =>
        lower(value(k, 'gld_efficiency'), value(k, 'gst_efficiency')) / 100, series: [
        ['loads', 'gld_efficiency'], ['stores', 'gst_efficiency']]},
    {title: 'Shared memory efficiency', unit: '%', series: [['shared', 'shared_efficiency']]},
    {title: 'Warp execution efficiency', unit: '%', judged: 'active lanes', series: [
        ['active lanes', 'warp_execution_efficiency'], ['predicate on', 'warp_nonpred_execution_efficiency']]},
    {title: 'DRAM utilization', unit: 'ratio', series: [['of the bandwidth', 'dram_utilization']]},
    {title: 'FLOP utilization', unit: 'ratio', judged: 'of the peak', series: [
        ['of the peak', 'flop_utilization'], ['tensor cores’ time', 'tensor_utilization']]},
    {title: 'FLOP per byte', unit: 'flop/byte', series: [['global memory', 'flop_per_byte']]},
].map(figure => ({
    ...figure, full: fullOf(figure.unit),
    series: figure.series.map(([label, metric, of]) => ({label, metric, of: of ?? (k => value(k, metric))})),
}));

const SERIES_COLORS = ['--series-1', '--series-2'];

/* The part of the best value that a kernel reaches, by which it is judged. */
const shareOf = (figure, kernel) =>
    figure.share ? figure.share(kernel) : figure.series[0].of(kernel) / figure.full;

/* Of two numbers the lower, of one that is absent the other. */
const lower = (a, b) => isNumber(a) && isNumber(b) ? Math.min(a, b) : isNumber(a) ? a : b;

/* Without further series that are 0 everywhere. With two profiles the first series stands twice, A
 * beside B. */
function seriesOf(figure, shown) {
    const measured = figure.series.filter(({of}, i) => shown.some(profile =>
        profile.kernels.some(k => i === 0 ? isNumber(of(k)) : of(k) > 0)));
    if (shown.length < 2)
        return measured;
    return measured.slice(0, 1).flatMap(({label, metric, of}) => [
        {label: `${label}, A`, metric, of: k => k.profile === shown[0] ? of(k) : NaN},
        {label: `${label}, B`, metric, of: k => { const p = partner(k, shown[1]); return p ? of(p) : NaN; }}]);
}

/* The worst first, by time; where nothing is best, those with the most time. */
function worstFirst(figure, kernels) {
    const lost = k => figure.full ? timeLost(k, shareOf(figure, k)) : k.share;
    const known = k => isNumber(lost(k)) ? lost(k) : -1;
    return kernels.sort((a, b) => known(b) - known(a) || a.number - b.number);
}

/* The share of its cell that a value fills: of the best one, or on a logarithmic scale. */
function scaleOf(figure, series, kernels) {
    if (figure.full)
        return v => v / figure.full;
    const all = kernels.flatMap(k => series.map(({of}) => of(k))).filter(v => v > 0);
    const least = Math.floor(Math.log10(Math.min(...all))), most = Math.ceil(Math.log10(Math.max(...all)));
    return v => v > 0 ? Math.max(0.02, (Math.log10(v) - least) / Math.max(1, most - least)) : 0;
}

const percentOf = share => isNumber(share) ? percent(share) : '–';

/* {head, explain, csv, cell} of each column. */
function figureColumns(figure, series, profile, scale) {
    const judged = figure.judged && series.length > 1 ? `, of ${figure.judged}` : '';
    return [
        {head: 'Kernel', csv: ['Kernel', 'Block'], cell: k => withRaw([k.name, k.block.join('x')],
            h('th', {scope: 'row'}, h('a', {href: kernelLink(k), title: k.name}, breakable(k.label))))},
        {head: 'Time %', explain: 'The share of the GPU time of all kernels.', csv: 'Time [ratio]',
         cell: k => withRaw(k.share, h('td', {}, shareText(k), k.profile !== profile && ' of B'))},
        figure.full && {head: 'Lost %', csv: 'Lost [ratio]', cell: k => {
            const lost = timeLost(k, shareOf(figure, k));
            return withRaw(lost, h('td', {}, percentOf(lost)));
        }, explain: `${WORST_FIRST}${judged}: the time that the missing part stands for. The worst are first.`},
        ...series.map(({label, metric, of}, i) => ({head: label, csv: `${metric}, ${label} [${figure.unit}]`,
            explain: [h('b', {}, metric), h('br'), metricOf(profile, metric)?.description,
                      figure.full ? '' : '; the bars are logarithmic'],
            cell: k => {
                const cell = barCell(scale(of(k)), cellText(of(k), figure.unit));
                cell.style.setProperty('--bar-color', `var(${SERIES_COLORS[i % SERIES_COLORS.length]})`);
                return withRaw(of(k), cell);
            }})),
    ].filter(Boolean);
}

function figureTable(columns, kernels) {
    return h('table', {class: 'bars'}, h('thead', {}, h('tr', {}, columns.map(({head, explain, csv}) =>
            withRaw(csv, h('th', {scope: 'col'}, explain
                ? explains(h('button', {type: 'button', class: 'explained'}, head), () => explain, true) : head))))),
        h('tbody', {}, kernels.map(k => h('tr', {}, columns.map(column => column.cell(k))))));
}

function figureElement(profile, figure, series, kernels, most) {
    const measured = kernels.filter(k => series.some(({of}) => isNumber(of(k))));
    const listed = worstFirst(figure, measured).slice(0, most);
    const columns = figureColumns(figure, series, profile, scaleOf(figure, series, listed));
    const table = figureTable(columns, listed);
    const {box, tools} = sheet(table, figure.title);
    const absent = kernels.length - measured.length;
    return h('figure', {}, h('figcaption', {class: 'toolbar'}, h('b', {}, figure.title), tools), box,
        absent > 0 && h('p', {class: 'muted'}, `${plural(absent, 'kernel')} without these numbers not shown.`));
}

function barsSection(shown) {
    const [profile] = shown, count = kernelsOf(shown).length, grid = h('div', {class: 'figures'}), note = h('div');
    const section = h('section', {id: 'bars'}, h('h2', {}, 'Efficiencies'),
        skipButton('skip the efficiencies', () => section.nextElementSibling));
    const choice = h('select', {'aria-label': 'how many kernels', onchange: draw},
        [10, 20, 50, 100].filter((n, i, all) => i === 0 || all[i - 1] < count)
            .map(n => h('option', {value: n}, n >= count ? `all ${count}` : n)));
    function draw() {
        const kernels = kernelsShown(shown);
        replace(note, filterNote(shown));
        replace(grid, FIGURES.map(figure => [figure, seriesOf(figure, shown)])
            .filter(([, series]) => series.length > 0)
            .map(([figure, series]) => figureElement(profile, figure, series, kernels, Number(choice.value))));
        if (!grid.firstChild)
            grid.append(h('p', {class: 'muted'}, 'The profile holds none of these metrics.'));
    }
    add(section, [h('div', {class: 'toolbar'},
        h('label', {}, h('span', {class: 'muted'}, 'Kernels in each '), choice),
        h('span', {class: 'muted'}, `The worst first, by time: ${WORST_FIRST}.`)), note, grid]);
    section.refilter = draw;
    draw();
    return section;
}
