/* The table of kernels: sorted by any column, searched, with the columns that are wanted. */

function nameCell(kernel) {
    const dot = h('span', {class: 'dot'});
    dot.style.background = kernel.color;
    return [dot, h('a', {href: kernelLink(kernel), title: kernel.name}, breakable(kernel.label)),
            kernel.profile !== shownProfiles()[0] && h('span', {class: 'muted'}, ' only in B'),
            kernel.profile.devices.length > 1 && h('span', {class: 'muted'}, ` GPU ${kernel.device}`)];
}

function tableCell(column, kernel) {
    if (column.cell)
        return withRaw(column.raw(kernel), h('th', {scope: 'row'}, column.cell(kernel)));
    const cell = barCell(column.bar ? column.bar(kernel) : NaN, column.text(kernel));
    const why = column.why?.(kernel), tone = column.tone ? column.tone(kernel) : 0;
    if (why)
        cell.title = why;
    if (Math.abs(tone) >= 0.02)
        cell.classList.add(tone < 0 ? 'good' : 'bad');
    return withRaw((column.raw ?? column.sort)(kernel), cell);
}

const SORTED = {up: 'ascending', down: 'descending', worst: 'other'};

function headCell(table, column) {
    const {by, order} = currentOrder(table.shown);
    const cell = h('th', {scope: 'col', 'data-column': column.id, 'data-order': by === column ? order : null,
                          'aria-sort': by === column ? SORTED[order] : 'none'},
        explains(h('button', {type: 'button', onclick: () => {
            sortBy(table.shown, column);
            table.head.querySelector(`[data-column="${CSS.escape(column.id)}"] button`)?.focus();
        }}, column.head), () => explanation(column)));
    return withRaw(column.csv, cell);
}

function tableSection(shown) {
    const columns = columnsOf(shown);
    const table = {shown, columns, head: h('tr'), body: h('tbody'), count: h('span', {class: 'muted', role: 'status'})};
    const element = h('table', {class: 'kernels'}, h('thead', {}, table.head), table.body);
    const {box, tools, measure} = sheet(element, 'kernels', {tall: true, label: 'table of kernels'});
    table.measure = measure;
    table.search = h('input', {type: 'search', id: 'search', placeholder: 'Search kernels ( / )',
        'aria-label': 'search kernels', oninput: event => setState({search: event.target.value})});
    table.least = h('select', {'aria-label': 'least share of the time', onchange: event =>
        setState({least: Number(event.target.value)})});
    table.chooser = columnChooser(table);
    table.legend = h('dl');
    const section = h('section', {id: 'kernels'}, h('h2', {}, 'Kernels'),
        skipButton('skip the table of kernels', () => section.nextElementSibling),
        h('div', {class: 'toolbar'}, table.search, table.least, table.chooser.element, table.count, tools), box,
        h('details', {class: 'legend'}, h('summary', {}, 'The columns explained'), table.legend));
    table.body.addEventListener('keydown', walkRows);
    section.table = table;
    section.refilter = () => fillTable(table);
    fillTable(table);
    return section;
}

/* Up and down go from kernel to kernel. */
function walkRows(event) {
    const step = {ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling'}[event.key];
    const next = step && event.target.closest('tr')?.[step];
    if (!next)
        return;
    event.preventDefault();
    next.querySelector('a').focus();
}

/* ---- which columns ---- */

const isVisible = column => !column.metric ||
    (state.columns ? state.columns.includes(column.id) : SHOWN_AT_FIRST.includes(column.id));

function chooseColumn(table, column, wanted) {
    const visible = table.columns.filter(c => c.metric && (c === column ? wanted : isVisible(c))).map(c => c.id);
    const first = table.columns.filter(c => c.metric && SHOWN_AT_FIRST.includes(c.id)).map(c => c.id);
    setState({columns: String(visible) === String(first) ? null : visible});
}

function columnChooser(table) {
    const chosen = table.columns.filter(c => c.metric);
    const boxes = chosen.map(column => h('input', {type: 'checkbox',
        onchange: event => chooseColumn(table, column, event.target.checked)}));
    const summary = h('summary');
    return {
        element: menu(h('details', {class: 'chooser'}, summary, h('div', {}, chosen.map((column, i) =>
            h('label', {}, boxes[i], ` ${column.metric.name}`))))),
        show() {
            chosen.forEach((column, i) => { boxes[i].checked = isVisible(column); });
            summary.textContent = `Columns: ${table.columns.filter(isVisible).length} of ${table.columns.length}`;
        },
    };
}

/* A menu is closed by Escape, and by a click or the focus elsewhere. */
function menu(details) {
    details.addEventListener('keydown', event => {
        if (event.key !== 'Escape' || !details.open)
            return;
        event.stopPropagation();
        details.open = false;
        details.querySelector('summary').focus();
    });
    details.addEventListener('focusout', event => {
        if (event.relatedTarget && !details.contains(event.relatedTarget))
            details.open = false;
    });
    const close = event => {
        if (!details.contains(event.target))
            details.open = false;
    };
    details.addEventListener('toggle', () =>
        (details.open ? addEventListener : removeEventListener)('pointerdown', close));
    return details;
}

/* ---- rows ---- */

const SHARES = [[0, 'any time'], [0.001, '0.1 % or more'], [0.01, '1 % or more'], [0.05, '5 % or more']];

function fillTable(table) {
    const columns = table.columns.filter(isVisible);
    if (table.search.value !== state.search)
        table.search.value = state.search;
    const shares = SHARES.some(([share]) => share === state.least) ? SHARES
        : [...SHARES, [state.least, `${percent(state.least)} or more`]];
    replace(table.least, shares.map(([share, text]) =>
        h('option', {value: share, selected: share === state.least}, text)));
    hideTip();
    table.chooser.show();
    replace(table.head, columns.map(column => headCell(table, column)));
    replace(table.body, kernelsShown(table.shown).map(kernel =>
        h('tr', {'data-kernel': kernel.number, 'data-profile': kernel.profile.letter},
          columns.map(c => tableCell(c, kernel)))));
    replace(table.legend, columns.map(column => h('div', {}, explanation(column))));
    table.count.textContent = countText(table.shown);
    table.measure();
}
