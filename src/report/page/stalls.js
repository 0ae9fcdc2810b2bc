/* Why the warps of a kernel wait: reasons, and the lines with their samples as a flame graph, the calls above
 * and the lines that were inlined there below them. */

/* Memory is red to yellow, the rest of the SM green to blue; issuing and ready warps are grey. */
const STALL_COLORS = {
    long_scoreboard: '#e4572e', lg_throttle: '#f28e2b', imc_miss: '#e8b417', tex_throttle: '#d67a54', drain: '#b5651d',
    membar: '#a0714f', short_scoreboard: '#2fa58f', mio_throttle: '#59b8c4', barrier: '#a05fd6',
    warpgroup_arrive: '#c58be0', sleeping: '#6b7785', wait: '#4c78d8', math_pipe_throttle: '#4aa63c',
    dispatch_stall: '#86bc4c', branch_resolving: '#e377a8', no_instructions: '#b04a86', misc: '#8b93a1',
    selected: '#9aa3b2', not_selected: '#bcc3cd',
};

/* Of a list of reasons with their shares, the most first. */
const stallColor = reasons => STALL_COLORS[reasons[0]?.[0]] ?? OTHER_COLOR;
const reasonsText = reasons => reasons.map(([name, share]) => `${name} ${percent(share)}`).join(', ');

/* ---- flame graph ---- */

const FLAME_ROW = 22, LEAST_LABEL = 0.03;

function svg(tag, props, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(props))
        element.setAttribute(key, String(value));
    element.append(...children);
    return element;
}

/* A box for each node: its left edge and width as shares of the whole. The nodes of the path are as wide as it
 * is; below its last one each node has the width of its samples. */
function flameBoxes(path) {
    const boxes = path.slice(0, -1).map((node, depth) => ({node, depth, from: 0, width: 1, path: path.slice(0, depth + 1)}));
    const add = (node, depth, from, width, way) => {
        boxes.push({node, depth, from, width, path: way});
        for (const child of node.children) {
            const part = width * child.share / node.share;
            add(child, depth + 1, from, part, [...way, child]);
            from += part;
        }
    };
    add(path[path.length - 1], path.length - 1, 0, 1, path);
    return boxes;
}

const nodeName = node => [node.name, node.in].filter(Boolean).join(' in ');
const nodeText = (node, kernel) => `${nodeName(node) || kernel.label}: ${percent(node.share)}`;

function flameBox(box, kernel) {
    const text = svg('text', {x: 4, y: 15}), name = nodeName(box.node) || kernel.label;
    if (box.width >= LEAST_LABEL)
        text.textContent = name;
    const element = svg('svg', {x: `${(100 * box.from).toFixed(3)}%`, y: box.depth * FLAME_ROW,
        width: `${(100 * box.width).toFixed(3)}%`, height: FLAME_ROW - 1, tabindex: -1, role: 'button',
        'aria-label': `${nodeText(box.node, kernel)} (${reasonsText(box.node.reasons)})`},
        svg('rect', {width: '100%', height: '100%', fill: stallColor(box.node.reasons), 'fill-opacity': 0.45}), text);
    element.box = box;
    return explains(element, () => [h('div', {}, nodeText(box.node, kernel)),
        box.node.reasons.map(([reason, share]) => h('div', {}, `${percent(share)} ${reason}`))]);
}

/* Arrow keys go from box to box, Enter or a click shows one in full width, Escape shows all. */
function flameGraph(kernel) {
    const frame = svg('svg', {class: 'flame', width: '100%', role: 'group', 'aria-label':
        'Samples by line. Arrow keys go from box to box, Enter shows one in full width, Escape all of them.'});
    const draw = (path, focused) => {
        const boxes = flameBoxes(path), elements = boxes.map(box => flameBox(box, kernel));
        const depth = Math.max(...boxes.map(box => box.depth)) + 1;
        frame.setAttribute('height', depth * FLAME_ROW);
        frame.replaceChildren(...elements);
        hideTip();
        const current = elements[Math.max(0, boxes.findIndex(box => box.node === focused))];
        current.setAttribute('tabindex', 0);
        if (focused)
            current.focus();
    };
    const root = [kernel.stalls.tree];
    frame.addEventListener('click', event => {
        const element = event.target.closest('[role=button]');
        if (element)
            draw(element.box.path, element.box.node);
    });
    frame.addEventListener('keydown', event => {
        const element = event.target.closest('[role=button]');
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        if (!element)
            return;
        const all = [...frame.children], next = all[all.indexOf(element) + (step ?? 0)];
        if (step && next) {
            element.setAttribute('tabindex', -1);
            next.setAttribute('tabindex', 0);
            next.focus();
            say(next.getAttribute('aria-label'));
        } else if (event.key === 'Enter' || event.key === ' ') {
            draw(element.box.path, element.box.node);
        } else if (event.key === 'Escape') {
            event.stopPropagation();
            draw(root, root[0]);
        }
        if (step || event.key === 'Enter' || event.key === ' ')
            event.preventDefault();
    });
    draw(root);
    return frame;
}

/* ---- reasons ---- */

function reasonRow(reason, most) {
    const cell = withRaw(reason.share, barCell(reason.share / most, percent(reason.share)));
    cell.style.setProperty('--bar-color', `${STALL_COLORS[reason.name] ?? OTHER_COLOR}66`);
    return h('tr', {}, h('th', {scope: 'row'}, reason.name), cell, h('td', {class: 'meaning'}, reason.meaning),
        h('td', {class: 'why'}, reason.where && `${reason.where} (${percent(reason.part)} of it)`));
}

function stallsSection(kernel) {
    const {stalls} = kernel;
    if (!stalls)
        return null;
    const most = stalls.reasons[0]?.share ?? 1;
    return h('section', {}, h('h2', {}, 'Why warps wait'), h('p', {class: 'muted'},
        `By ${plural(stalls.samples, 'sample')} in ${plural(stalls.runs, 'run')} of this kernel, so a share is `,
        `sure to ±${(100 * stalls.error).toFixed(1)} points at best. Each sample is a warp at its next instruction, and `,
        'the reason why it was there; CUPTI and Nsight Compute give the reasons the same names.'),
        framed(h('table', {class: 'stalls'}, h('thead', {}, h('tr', {},
            ['reason', 'samples', 'a warp', 'most at'].map(text => h('th', {scope: 'col'}, text)))),
        h('tbody', {}, stalls.reasons.map(reason => reasonRow(reason, most)))), `reasons of ${kernel.label}`),
        stalls.tree && h('figure', {}, h('figcaption', {}, 'Lines by their samples, with the lines inlined there below ',
            'them; the color is the reason that most samples have'), flameGraph(kernel)));
}
