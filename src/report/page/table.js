/* The table of kernels: sorted by any column, searched, with the columns that are wanted. */

const SHOWN_AT_FIRST = ['achieved_occupancy', 'gld_efficiency', 'gst_efficiency', 'shared_efficiency',
                        'warp_execution_efficiency', 'flops', 'dram_utilization'];
const SHORT_NAMES = {
    achieved_occupancy: 'occupancy', gld_efficiency: 'load eff.', gst_efficiency: 'store eff.',
    shared_efficiency: 'shared eff.', warp_execution_efficiency: 'warp eff.', flops: 'FLOP/s',
    flop_utilization: 'FLOP util.', dram_utilization: 'DRAM util.',
};

function kernelColumns(shown) {
    const profile = shown[0], other = shown[1];
    const isInA = k => k.profile === profile, secondsInA = k => isInA(k) ? k.seconds : NaN;
    const columns = [
        {id: 'kernel', head: 'Kernel', text: k => k.label, sort: k => k.label.toLowerCase(), cell: nameCell},
        {id: 'share', head: 'Time %', sort: k => isInA(k) ? k.share : NaN,
         text: k => isInA(k) ? shareText(k) : '–', bar: k => isInA(k) ? k.share : NaN},
        {id: 'seconds', head: other ? 'Time A' : 'Time', sort: k => k.timed ? secondsInA(k) : NaN,
         text: k => !isInA(k) ? 'not there' : k.timed ? format(k.seconds, 's') : '–'},
    ];
    if (other)
        columns.push(
            {id: 'seconds-b', head: 'Time B', sort: k => partner(k, other)?.seconds ?? NaN,
             text: k => { const p = partner(k, other); return p ? format(p.seconds, 's') : 'not there'; }},
            {id: 'change', head: 'B to A', sort: k => (partner(k, other)?.seconds ?? NaN) / secondsInA(k),
             text: k => change(secondsInA(k), partner(k, other)?.seconds),
             tone: k => (partner(k, other)?.seconds ?? NaN) / secondsInA(k) - 1});
    columns.push(
        {id: 'launches', head: 'Launches', sort: k => k.launches, text: k => k.measured < k.launches
            ? `${grouped(k.measured)} of ${grouped(k.launches)}` : grouped(k.launches)},
        {id: 'average', head: 'Average', sort: averageTime,
         text: k => format(averageTime(k), 's')});
    if (profile.kernels.some(k => k.bound.known))
        columns.push({id: 'bound', head: 'Bound by', sort: k => k.bound.by,
                      text: k => k.bound.known ? boundText(k) : '–', why: k => k.bound.why});
    for (const metric of profile.metrics)
        if (metric.name !== 'duration')
            columns.push(metricColumn(metric));
    return columns;
}

function metricColumn(metric) {
    const full = metric.unit === '%' ? 100 : metric.unit === 'ratio' ? 1 : 0;
    return {
        id: `m-${metric.name}`, metric, head: SHORT_NAMES[metric.name] || metric.name,
        title: `${metric.name}: ${metric.description || ''}`,
        sort: k => value(k, metric.name), text: k => format(value(k, metric.name), metric.unit),
        why: k => stat(k, metric.name)?.why, bar: full ? k => value(k, metric.name) / full : null,
    };
}

function nameCell(kernel) {
    const dot = h('span', {class: 'dot'});
    dot.style.background = kernel.color;
    return [dot, h('a', {href: `#${kernelHash(kernel)}`, title: kernel.name},
                   shorten(kernel.label, 56)),
            kernel.profile !== shownProfiles()[0] && h('span', {class: 'muted'}, ' only in B'),
            kernel.profile.devices.length > 1 && h('span', {class: 'muted'}, ` GPU ${kernel.device}`)];
}

function tableCell(column, kernel) {
    if (column.cell)
        return h('th', {scope: 'row'}, column.cell(kernel));
    const cell = h('td', {title: column.why?.(kernel)}, column.text(kernel));
    const filled = column.bar ? column.bar(kernel) : NaN;
    if (isNumber(filled)) {
        cell.classList.add('bar');
        cell.style.setProperty('--fill', `${Math.min(100, Math.max(0, 100 * filled)).toFixed(1)}%`);
    }
    const tone = column.tone ? column.tone(kernel) : 0;
    if (Math.abs(tone) >= 0.02)
        cell.classList.add(tone < 0 ? 'good' : 'bad');
    return cell;
}

/* Numbers that are not there come last, whichever way. */
function compareBy(column, descending) {
    return (a, b) => {
        const x = column.sort(a), y = column.sort(b);
        const missing = (typeof x === 'number' && isNaN(x)) - (typeof y === 'number' && isNaN(y));
        if (missing)
            return missing;
        return (x < y ? -1 : x > y ? 1 : a.number - b.number) * (descending ? -1 : 1);
    };
}

function tableSection(shown) {
    const columns = kernelColumns(shown);
    const table = {
        shown, columns, by: columns.find(c => c.id === 'share'), descending: true, words: '',
        least: 0, visible: new Set(columns.filter(c => !c.metric ||
            SHOWN_AT_FIRST.includes(c.metric.name)).map(c => c.id)),
    };
    table.head = h('tr');
    table.body = h('tbody');
    table.count = h('span', {class: 'muted', role: 'status'});
    const search = h('input', {type: 'search', id: 'search', placeholder: 'Search kernels ( / )',
        'aria-label': 'search kernels', oninput: event => {
            table.words = event.target.value.toLowerCase();
            fillTable(table);
        }});
    const least = h('select', {'aria-label': 'least share of the time', onchange: event => {
        table.least = Number(event.target.value);
        fillTable(table);
    }}, [[0, 'any time'], [0.001, '0.1 % or more'], [0.01, '1 % or more'], [0.05, '5 % or more']]
        .map(([share, text]) => h('option', {value: share}, text)));
    const section = h('section', {id: 'kernels'}, h('h2', {}, 'Kernels'),
        h('div', {class: 'toolbar'}, search, least, columnChooser(table), table.count),
        h('div', {class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'table of kernels'},
          h('table', {class: 'kernels'}, h('thead', {}, table.head), table.body)));
    fillTable(table);
    section.table = table;
    return section;
}

function columnChooser(table) {
    const boxes = table.columns.filter(c => c.metric).map(column => h('label', {},
        h('input', {type: 'checkbox', checked: table.visible.has(column.id), onchange: event => {
            if (event.target.checked)
                table.visible.add(column.id);
            else
                table.visible.delete(column.id);
            fillTable(table);
        }}), ` ${column.metric.name}`));
    return h('details', {class: 'chooser'}, h('summary', {}, 'Columns'), h('div', {}, boxes));
}

function fillTable(table) {
    const columns = table.columns.filter(c => table.visible.has(c.id));
    replace(table.head, columns.map(column => h('th', {
        scope: 'col', 'data-column': column.id,
        'aria-sort': table.by === column ? (table.descending ? 'descending' : 'ascending') : 'none'},
        h('button', {type: 'button', title: column.title, onclick: () => sortBy(table, column)},
          column.head))));
    const words = table.words.split(/\s+/).filter(Boolean);
    const all = kernelsOf(table.shown);
    const kernels = all.filter(k =>
        words.every(word => k.search.includes(word)) &&
        (table.least === 0 || k.share >= table.least));
    kernels.sort(compareBy(table.by, table.descending));
    replace(table.body, kernels.map(kernel =>
        h('tr', {'data-kernel': kernel.number, 'data-profile': kernel.profile.letter}, columns.map(c => tableCell(c, kernel)))));
    table.count.textContent = kernels.length === all.length ? plural(kernels.length, 'kernel')
        : `${grouped(kernels.length)} of ${plural(all.length, 'kernel')}`;
}

function sortBy(table, column) {
    table.descending = table.by === column ? !table.descending : column.id !== 'kernel';
    table.by = column;
    fillTable(table);
    table.head.querySelector(`[data-column="${CSS.escape(column.id)}"] button`)?.focus();
}
