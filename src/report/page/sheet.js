/* A table in its frame: buttons that save it as CSV and copy it, and a line on the columns that are out of
 * sight. Its cells are written as they are read, unless they have a property `raw`: a number, a text, or
 * several of them. */

/* A text that a spreadsheet would take for a formula begins with an apostrophe instead. */
const harmless = text => /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;

function rawCells(row) {
    return [...row.cells].flatMap(cell => cell.raw === undefined ? cell.textContent.trim() : cell.raw)
        .map(raw => typeof raw !== 'number' ? harmless(raw ?? '') : isFinite(raw) ? String(raw) : '');
}

const rowsOf = table => [...table.rows].filter(row => !row.classList.contains('class'));
const quoted = text => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
const csvOf = table => rowsOf(table).map(row => `${rawCells(row).map(quoted).join(',')}\r\n`).join('');
const tabbedOf = table => rowsOf(table).map(row =>
    `${rawCells(row).map(text => text.replace(/\s+/g, ' ')).join('\t')}\n`).join('');

function save(text, name) {
    const url = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
    h('a', {href: url, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* Into the clipboard. Without a secure connection only the older way is open. */
async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = h('textarea', {'aria-hidden': 'true'}), before = document.activeElement;
        area.value = text;
        document.body.append(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        before?.focus();
        return done;
    }
}

function sheetButtons(table, name) {
    const rows = () => plural(rowsOf(table).length - (table.tHead ? 1 : 0), 'row');
    const button = (text, label, act) => {
        const element = h('button', {type: 'button', 'aria-label': `${label}: ${name}`, title: label,
                                     onclick: async () => {
            const done = await act();
            say(done);
            element.textContent = done;
            setTimeout(() => { element.textContent = text; }, 2000);
        }}, text);
        return element;
    };
    return [
        button('CSV', 'save the table as CSV', () => {
            save(csvOf(table), `gpuprof-${name.replace(/[^A-Za-z0-9_.-]+/g, '-')}.csv`);
            return `${rows()} saved`;
        }),
        button('Copy', 'copy the table, for a spreadsheet', async () =>
            await copy(tabbedOf(table)) ? `${rows()} copied` : 'not copied'),
    ];
}

/* The heads of the columns that do not fit, to the left and to the right of the visible ones. */
function columnsOutOfSight(box, table) {
    const heads = [...table.tHead?.rows[0]?.cells ?? []];
    const view = box.getBoundingClientRect(), first = heads[0]?.getBoundingClientRect().right;
    return {
        left: heads.slice(1).filter(c => c.getBoundingClientRect().left < first - 1),
        right: heads.slice(1).filter(c => c.getBoundingClientRect().right > view.right + 1),
    };
}

function sheet(table, name, {tall, label} = {}) {
    const box = h('div', {class: `scroll${tall ? ' tall' : ''}`, role: 'region', 'aria-label': label ?? name}, table);
    const move = way => h('button', {type: 'button', class: 'more', hidden: true, onclick: () => {
        box.scrollBy({left: way * Math.max(100, box.clientWidth - table.tHead.rows[0].cells[0].offsetWidth)});
    }});
    const left = move(-1), right = move(1);
    function measure() {
        const out = columnsOutOfSight(box, table);
        const names = cells => cells.map(cell => cell.textContent).join(', ');
        left.hidden = out.left.length === 0;
        right.hidden = out.right.length === 0;
        left.textContent = `◂ ${plural(out.left.length, 'column')} to the left`;
        right.textContent = `${plural(out.right.length, 'column')} to the right ▸`;
        left.title = names(out.left);
        right.title = names(out.right);
        box.classList.toggle('cut', !right.hidden);
        /* A box that can be scrolled is one that the keyboard must reach. */
        if (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)
            box.tabIndex = 0;
        else
            box.removeAttribute('tabindex');
    }
    box.addEventListener('scroll', measure, {passive: true});
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    observer.observe(table);
    return {box, measure, tools: h('span', {class: 'tools'}, left, right, sheetButtons(table, name))};
}

/* The same in one piece, for tables without a toolbar of their own. */
function framed(table, name, options) {
    const {box, tools} = sheet(table, name, options);
    return h('div', {class: 'framed'}, h('div', {class: 'toolbar'}, tools), box);
}

/* A cell with a bar behind its text; `share` of the cell's width. */
function barCell(share, ...content) {
    const cell = h('td', {class: isNumber(share) ? 'bar' : ''}, content);
    if (isNumber(share))
        cell.style.setProperty('--fill', `${Math.min(100, Math.max(0, 100 * share)).toFixed(1)}%`);
    return cell;
}

/* Any element with the value that it has in CSV. */
function withRaw(raw, element) {
    element.raw = raw;
    return element;
}
