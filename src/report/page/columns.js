/* The columns of the table of kernels, by which the kernels are also ordered elsewhere. Those of metrics
 * have the metric's name as their id; the others have a hyphen in theirs, which no metric has. */

const SHOWN_AT_FIRST = ['achieved_occupancy', 'gld_efficiency', 'gst_efficiency', 'shared_efficiency',
                        'warp_execution_efficiency', 'flops', 'flop_per_byte', 'dram_utilization'];
const SHORT_NAMES = {
    achieved_occupancy: 'Occupancy', gld_efficiency: 'Load efficiency', gst_efficiency: 'Store efficiency',
    shared_efficiency: 'Shared efficiency', warp_execution_efficiency: 'Warp efficiency', flops: 'FLOP/s',
    flop_per_byte: 'FLOP per byte', flop_utilization: 'FLOP utilization', dram_utilization: 'DRAM utilization',
};

const fullOf = unit => unit === '%' ? 100 : unit === 'ratio' ? 1 : NaN;

/* Metrics of which all would be best: the remainder is work or room that is wasted. */
const isEfficiency = metric => isNumber(fullOf(metric.unit)) &&
    /(_efficiency|_occupancy|_utilization)(_|$)/.test(metric.name);

/* The share of the whole GPU time that the remainder of an efficiency stands for. Without times: the
 * remainder. */
const timeLost = (kernel, share) =>
    (isNumber(kernel.share) ? kernel.share : 1) * Math.max(0, 1 - share);

const WORST_FIRST = 'share of the GPU time × (100 % − the value)';

function kernelColumns(shown) {
    const profile = shown[0], other = shown[1];
    const isInA = k => k.profile === profile, secondsInA = k => isInA(k) ? k.seconds : NaN;
    const columns = [
        {id: 'kernel-name', head: 'Kernel', text: k => k.label, sort: k => k.brief.toLowerCase(), first: 'up',
         csv: ['Kernel', 'Block'], raw: k => [k.name, k.block.join('x')], cell: nameCell,
         explain: 'The name without namespaces and parameters, with the template arguments by which kernels ' +
                  'differ, cut where they are alike. Where a kernel has several launch configurations, its block ' +
                  'and other differences stand behind it.'},
        {id: 'time-share', head: 'Time %', sort: k => isInA(k) ? k.share : NaN, csv: ['Time [ratio]'],
         text: k => isInA(k) ? shareText(k) : '–', bar: k => isInA(k) ? k.share : NaN,
         explain: 'The share of the GPU time of all kernels. ~: the time of the timed launches stands for all.'},
        {id: 'time-total', head: other ? 'Time A' : 'Time', sort: k => k.timed ? secondsInA(k) : NaN,
         text: k => !isInA(k) ? 'not there' : k.timed ? format(k.seconds, 's') : '–',
         csv: [other ? 'Time A [s]' : 'Time [s]'],
         explain: 'The GPU time of all launches together.'},
    ];
    if (other)
        columns.push(
            {id: 'time-b', head: 'Time B', sort: k => partner(k, other)?.seconds ?? NaN, csv: ['Time B [s]'],
             text: k => { const p = partner(k, other); return p ? format(p.seconds, 's') : 'not there'; },
             explain: 'The GPU time of the kernel of the same symbol in profile B, of several that with the same block.'},
            {id: 'time-change', head: 'B to A', sort: k => (partner(k, other)?.seconds ?? NaN) / secondsInA(k),
             text: k => change(secondsInA(k), partner(k, other)?.seconds), csv: ['Time B / time A'],
             tone: k => (partner(k, other)?.seconds ?? NaN) / secondsInA(k) - 1,
             explain: 'By how much the time in B is longer (+) or shorter (−) than in A.'});
    columns.push(
        {id: 'launch-count', head: 'Launches', sort: k => k.launches, text: k => k.measured < k.launches
            ? `${grouped(k.measured)} of ${grouped(k.launches)}` : grouped(k.launches), csv: ['Launches'],
         explain: 'Launches by the program; "3 of 9" where 3 of them were measured.'},
        {id: 'time-average', head: 'Average', sort: averageTime, text: k => format(averageTime(k), 's'),
         csv: ['Average time [s]'], explain: 'The GPU time divided by the launches.'});
    if (profile.kernels.some(k => k.bound.known))
        columns.push({id: 'bound-by', head: 'Bound by', sort: k => k.bound.by, first: 'up', csv: ['Bound by'],
                      text: k => k.bound.known ? boundText(k) : '–', why: k => k.bound.why, raw: k =>
                          k.bound.known ? k.bound.by : '',
                      explain: 'The unit of the GPU that limits the kernel, and how much of it is used; roof: it ' +
                               'works at the rate that it reaches in practice. Latency: no unit is busy, warps wait.'});
    for (const metric of profile.metrics)
        if (metric.name !== 'duration')
            columns.push(metricColumn(metric));
    return columns;
}

/* "0.57/0.75": achieved and theoretical. */
function occupancyText(kernel) {
    const show = v => isNumber(v) ? v.toFixed(2) : '–';
    return `${show(value(kernel, 'achieved_occupancy'))}/${show(theoretical(kernel))}`;
}

function metricColumn(metric) {
    const full = fullOf(metric.unit), occupancy = metric.name === 'achieved_occupancy';
    return {
        id: metric.name, metric, head: SHORT_NAMES[metric.name] || metric.name,
        sort: k => value(k, metric.name), csv: [`${metric.name}${metric.unit ? ` [${metric.unit}]` : ''}`],
        text: k => occupancy ? occupancyText(k) : cellText(value(k, metric.name), metric.unit),
        why: k => stat(k, metric.name)?.why, bar: isNumber(full) ? k => value(k, metric.name) / full : null,
        explain: (metric.description || '') + (occupancy ? '; behind it the theoretical occupancy' : ''),
        lost: isEfficiency(metric) ? k => timeLost(k, value(k, metric.name) / full) : null,
        first: isEfficiency(metric) ? 'worst' : 'down',
    };
}

/* All there is to say of a column: in its tooltip, and in the list under the table. */
function explanation(column) {
    const {metric} = column;
    return [h('b', {}, column.head), metric && ` ${[metric.name, metric.unit].filter(Boolean).join(', ')}`, h('br'),
            column.explain, metric?.formula && [h('br'), h('span', {class: 'formula'}, `= ${metric.formula}`)],
            column.lost && [h('br'), `A click sorts the worst first, by time: ${WORST_FIRST}; `,
                            'a second one by the value.']];
}

/* ---- order ---- */

/* In which orders a click sorts, one after the other. */
function ordersOf(column) {
    return column.lost ? ['worst', 'up', 'down'] : column.first === 'up' ? ['up', 'down'] : ['down', 'up'];
}

/* Numbers that are not there come last, whichever way. */
function compareBy(column, order) {
    const key = order === 'worst' ? column.lost : column.sort, sign = order === 'up' ? 1 : -1;
    return (a, b) => {
        const x = key(a), y = key(b);
        const missing = (typeof x === 'number' && isNaN(x)) - (typeof y === 'number' && isNaN(y));
        if (missing)
            return missing;
        return x < y ? -sign : x > y ? sign : a.number - b.number;
    };
}

const columnCache = new Map();

function columnsOf(shown) {
    const key = shown.map(p => p.number).join();
    if (!columnCache.has(key))
        columnCache.set(key, kernelColumns(shown));
    return columnCache.get(key);
}

/* The column and the order of the address, as far as this page has them. */
function currentOrder(shown) {
    const columns = columnsOf(shown);
    const by = columns.find(c => c.id === state.sort) ?? columns.find(c => c.id === FIRST_COLUMN);
    const orders = ordersOf(by);
    return {by, order: orders.includes(state.order) ? state.order : orders[0]};
}

function sortBy(shown, column) {
    const {by, order} = currentOrder(shown), orders = ordersOf(column);
    const next = by === column ? orders[(orders.indexOf(order) + 1) % orders.length] : orders[0];
    setState({sort: column.id, order: next === orders[0] ? null : next});
}
