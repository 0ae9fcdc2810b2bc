/* The launches by stream, in the program's order. A profile has the time of each kernel and, of newer
 * versions, when the program launched it. By GPU time they stand one behind the other; by the
 * program's time where they were launched, without the time that measuring took. Launches narrower
 * than a pixel are drawn as the longest launch of that pixel. */

const ROW = 26, NAME_ROW = 16, MOST_ROWS = 24, NARROW = 560;

function timelineModel(profile) {
    const launches = launchesOf(profile), seconds = launches.metric('duration');
    const model = {profile, launches, ...timelineRows(profile, launches)};
    model.lasts = Float64Array.from({length: launches.count}, (_, i) =>
        seconds && seconds[i] > 0 && isFinite(seconds[i]) ? seconds[i] : 0);
    model.start = new Float64Array(launches.count);
    placeLaunches(model, false);
    return model;
}

/* Gives each launch its begin: none before the end of the one before. */
function placeLaunches(model, byProgram) {
    let end = 0;
    for (let i = 0; i < model.launches.count; i++) {
        model.start[i] = byProgram ? Math.max(end, model.launches.start[i]) : end;
        end = model.start[i] + model.lasts[i];
    }
    model.end = end;
}

const endOf = (model, i) => model.start[i] + model.lasts[i];

/* A stream's handle is an address; the program's own streams are numbered as they come instead. */
const DEFAULT_STREAMS = {'0': 'default stream', '1': 'default stream', '2': 'default, per thread'};

/* The names of the rows, and for each stream of the columns its row. */
function timelineRows(profile, launches) {
    const order = launches.streams.map((stream, i) => ({...stream, i, name: DEFAULT_STREAMS[stream.stream]}));
    let count = 0;
    for (const stream of order)
        stream.name ??= `stream ${++count}`;
    order.sort((a, b) => a.device - b.device || !a.name.startsWith('d') - !b.name.startsWith('d') || a.i - b.i);
    const several = profile.devices.length > 1;
    const names = order.map(s => several ? `GPU ${s.device}, ${s.name}` : s.name);
    const rowOf = new Uint8Array(256).fill(Math.min(names.length, MOST_ROWS - 1));
    order.forEach((stream, row) => { rowOf[stream.i] = Math.min(row, MOST_ROWS - 1); });
    if (launches.otherStreams)
        names.push('other streams');
    if (names.length > MOST_ROWS)
        names.splice(MOST_ROWS - 1, names.length, 'further streams');
    return {names, rowOf};
}

/* The first launch that ends after this time. */
function launchAt(model, time) {
    let low = 0, high = model.launches.count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (endOf(model, middle) > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Names of streams stand before the rows, or above them where there is no room for that. */
function layOut(view) {
    const narrow = view.canvas.clientWidth < NARROW;
    view.left = narrow ? 4 : 130;
    view.above = narrow ? NAME_ROW : 0;
    view.row = ROW + view.above;
    view.height = 24 + view.row * view.model.names.length;
    view.canvas.style.height = `${view.height}px`;
}

const topOf = (view, row) => 3 + row * view.row + view.above;

function drawTimeline(view) {
    const {canvas, model} = view, ratio = theme.printing ? PRINT_RATIO : devicePixelRatio || 1;
    layOut(view);
    const width = canvas.clientWidth;
    canvas.width = width * ratio;
    canvas.height = view.height * ratio;
    const ctx = canvas.getContext('2d');
    ctx.scale(ratio, ratio);
    ctx.font = `12px ${Chart.defaults.font.family}`;
    view.scale = (width - view.left - 4) / (view.to - view.from);
    view.labels = [];
    model.names.forEach((name, row) => {
        ctx.fillStyle = cssColor('--track');
        ctx.fillRect(view.left, topOf(view, row), width - view.left - 4, ROW - 4);
        ctx.fillStyle = cssColor('--muted');
        drawLabel(ctx, view, name, 4, topOf(view, row) + (view.above ? -4 : 15),
                  view.above ? width : view.left - 10);
    });
    drawAxis(ctx, view, width, view.height);
    drawLaunches(ctx, view, width);
}

/* A text, whose box is noted. */
function drawLabel(ctx, view, text, x, y, most) {
    ctx.fillText(text, x, y, most);
    view.labels.push({text, boxes: [{x, y: y - 11, width: Math.min(most, ctx.measureText(text).width), height: 13}]});
}

function drawAxis(ctx, view, width, height) {
    const span = view.to - view.from, step = niceStep(span / (width / 130));
    ctx.fillStyle = cssColor('--muted');
    ctx.strokeStyle = cssColor('--grid');
    for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
        const x = view.left + (i * step - view.from) * view.scale;
        ctx.beginPath();
        ctx.moveTo(x, 0);
        ctx.lineTo(x, height - 20);
        ctx.stroke();
        const text = i === 0 ? '0' : shortNumber(i * step, 's'), long = ctx.measureText(text).width;
        if (x + 3 + long < width)
            drawLabel(ctx, view, text, x + 3, height - 7, long);
    }
}

function niceStep(rough) {
    const power = 10 ** Math.floor(Math.log10(rough || 1));
    return power * [1, 2, 5, 10].find(m => m * power >= rough);
}

/* Launches of kernels that the search and the filter leave out are pale. */
const launchColors = (profile, pale) =>
    profile.kernels.map(kernel => isShown(kernel) ? kernel.color : pale);

function drawLaunches(ctx, view, width) {
    const {model} = view, {launches, start} = model;
    const pale = cssColor('--pale'), colors = launchColors(model.profile, pale);
    const other = isFiltered() ? pale : OTHER_COLOR;
    const rows = model.names.length, right = width - 4;
    const pixel = new Int32Array(rows).fill(-1), longest = new Float64Array(rows);
    for (let i = launchAt(model, view.from); i < launches.count && start[i] <= view.to; i++) {
        const row = model.rowOf[launches.stream[i]], seconds = model.lasts[i];
        const x = Math.max(view.left, view.left + (start[i] - view.from) * view.scale);
        const w = Math.min(right, view.left + (start[i] + seconds - view.from) * view.scale) - x;
        const column = Math.floor(x);
        if (w < 1 && pixel[row] === column && longest[row] >= seconds)
            continue;
        pixel[row] = column;
        longest[row] = seconds;
        ctx.fillStyle = colors[launches.kernel[i]] ?? other;
        ctx.fillRect(w < 1 ? column : x, topOf(view, row), w < 1 ? 1 : w > 4 ? w - 0.5 : w, ROW - 4);
        const label = w > 60 && colors[launches.kernel[i]] !== pale &&
                      model.profile.kernels[launches.kernel[i]]?.short;
        if (label) {
            ctx.fillStyle = '#10141b';
            ctx.fillText(shorten(label, Math.floor((w - 8) / 7)), x + 4, topOf(view, row) + 15, w - 8);
        }
    }
    if (view.selected >= 0) {
        const i = view.selected, row = model.rowOf[launches.stream[i]];
        const x = view.left + (start[i] - view.from) * view.scale;
        ctx.strokeStyle = cssColor('--text');
        ctx.lineWidth = 2;
        ctx.strokeRect(x - 1, topOf(view, row) - 1, Math.max(3, model.lasts[i] * view.scale + 2), ROW - 2);
    }
}

function describeLaunch(model, i, between) {
    const {launches} = model, kernel = model.profile.kernels[launches.kernel[i]];
    const occupancy = launches.metric('achieved_occupancy')?.[i];
    const facts = [`launch ${grouped(launches.index[i])}`, format(launches.metric('duration')?.[i], 's'),
        `${plural(launches.blocks[i], 'block')}${kernel ? ` of ${extent(kernel.block)} threads` : ''}`,
        isNumber(occupancy) && `occupancy ${format(occupancy, 'ratio')}`].filter(Boolean);
    return [h('b', {}, kernel ? kernel.label : 'a kernel that is not listed'), between ?? h('br'),
            facts.join(between ?? ' · ')];
}

function zoom(view, factor, around) {
    const from = around - (around - view.from) * factor, to = around + (view.to - around) * factor;
    setView(view, from, to);
}

function setView(view, from, to) {
    const least = Math.max(view.model.end * 1e-7, 1e-9);
    let span = Math.min(Math.max(to - from, least), view.model.end);
    from = Math.min(Math.max(0, from), view.model.end - span);
    view.from = from;
    view.to = from + span;
    requestAnimationFrame(() => drawTimeline(view));
}

/* Marks a launch, and shows it in the line under the timeline; -1: none. */
function select(view, i) {
    view.selected = i;
    const {model} = view;
    if (i >= 0) {
        const middle = model.start[i] + model.lasts[i] / 2;
        if (middle < view.from || middle > view.to) {
            const span = view.to - view.from;
            view.from = Math.min(Math.max(0, middle - span / 2), model.end - span);
            view.to = view.from + span;
        }
    }
    hideTip();
    showSelected(view);
    drawTimeline(view);
}

function showSelected(view) {
    const {model, selected: i} = view;
    if (i < 0) {
        replace(view.line, h('span', {class: 'muted'}, 'No launch is selected.'));
        return;
    }
    const kernel = model.profile.kernels[model.launches.kernel[i]];
    replace(view.line, describeLaunch(model, i, ' · '),
            kernel && [' ', h('a', {href: kernelLink(kernel), class: 'button'}, 'open the kernel')]);
    say(describeLaunch(model, i, ', ').map(part => part.textContent ?? part).join(''));
}

function timelineKeys(view) {
    return event => {
        const span = view.to - view.from, middle = (view.from + view.to) / 2;
        const actions = {
            '+': () => zoom(view, 0.5, middle), '=': () => zoom(view, 0.5, middle),
            '-': () => zoom(view, 2, middle), 'Home': () => setView(view, 0, view.model.end),
            'PageDown': () => setView(view, view.from + span * 0.8, view.to + span * 0.8),
            'PageUp': () => setView(view, view.from - span * 0.8, view.to - span * 0.8),
            'ArrowRight': () => select(view, Math.min(view.selected + 1, view.model.launches.count - 1)),
            'ArrowLeft': () => select(view, Math.max(view.selected - 1, 0)),
            'Escape': () => view.selected >= 0 ? select(view, -1) : view.canvas.blur(),
            'Enter': () => openLaunch(view, view.selected),
        };
        if (actions[event.key] && !event.ctrlKey && !event.metaKey) {
            event.preventDefault();
            event.stopPropagation();
            actions[event.key]();
        }
    };
}

function openLaunch(view, i) {
    const kernel = i >= 0 && view.model.profile.kernels[view.model.launches.kernel[i]];
    if (kernel)
        openKernel(kernel);
}

/* The launch under the pointer, -1 where there is none; of several that are narrower than a pixel the
 * longest, which is the one that is drawn. */
function launchUnder(view, event) {
    const {model} = view, box = view.canvas.getBoundingClientRect();
    const time = view.from + (event.clientX - box.left - view.left) / view.scale;
    const row = Math.floor((event.clientY - box.top) / view.row);
    if (time < 0 || row >= model.names.length)
        return -1;
    const near = 2 / view.scale;
    let best = -1;
    for (let i = launchAt(model, time - near); i < model.launches.count && model.start[i] <= time + near; i++) {
        if (model.rowOf[model.launches.stream[i]] !== row)
            continue;
        if (model.start[i] <= time && endOf(model, i) >= time && model.lasts[i] >= 1 / view.scale)
            return i;
        if (best < 0 || model.lasts[i] > model.lasts[best])
            best = i;
    }
    return best;
}

function listenToPointer(view) {
    const {canvas} = view;
    let drag = null;
    canvas.addEventListener('wheel', event => {
        if (!event.ctrlKey && !event.altKey && document.activeElement !== canvas)
            return; /* a page that is scrolled is not to be caught here */
        event.preventDefault();
        const box = canvas.getBoundingClientRect();
        zoom(view, event.deltaY > 0 ? 1.25 : 0.8,
             view.from + (event.clientX - box.left - view.left) / view.scale);
    }, {passive: false});
    canvas.addEventListener('pointerdown', event => {
        drag = {x: event.clientX, from: view.from, to: view.to, moved: false};
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', event => {
        if (drag && (drag.moved || Math.abs(event.clientX - drag.x) > 3)) {
            drag.moved = true;
            hideTip();
            const by = (drag.x - event.clientX) / view.scale;
            setView(view, drag.from + by, drag.to + by);
            return;
        }
        const i = launchUnder(view, event);
        canvas.style.cursor = i >= 0 ? 'pointer' : 'grab';
        if (i >= 0)
            showTip(describeLaunch(view.model, i), event.clientX, event.clientY + 14);
        else
            hideTip();
    });
    canvas.addEventListener('pointerup', event => {
        if (drag && !drag.moved)
            select(view, launchUnder(view, event));
        drag = null;
    });
    canvas.addEventListener('pointercancel', () => { drag = null; });
    canvas.addEventListener('pointerleave', hideTip);
}

function clockChoice(view) {
    return h('select', {'aria-label': 'time', onchange: event => {
        placeLaunches(view.model, event.target.value === 'program');
        view.selected = -1;
        showSelected(view);
        setView(view, 0, view.model.end);
    }}, h('option', {value: 'gpu'}, 'by GPU time'), h('option', {value: 'program'}, 'by the program’s time'));
}

const TIMELINE_USE = 'Drag to move. A click selects a launch; then the wheel zooms, the arrow keys go from launch ' +
                     'to launch, and Enter opens the kernel.';

function timelineSection(profile, title, id) {
    const model = timelineModel(profile);
    const section = h('section', {id}, h('h2', {}, title));
    if (model.launches.count === 0 || model.end <= 0) {
        section.append(h('p', {class: 'muted'}, 'The profile holds no launch whose time was measured.'));
        return section;
    }
    const canvas = h('canvas', {class: 'timeline', tabindex: 0, role: 'img',
        'aria-label': 'Launches by stream. Arrow keys go from launch to launch, + and − zoom, ' +
                      'Page Up and Page Down move, Enter opens the kernel, Escape selects none.'});
    const view = {canvas, model, from: 0, to: model.end, selected: -1, line: h('p', {class: 'selected'})};
    const button = (text, label, act) =>
        h('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, text);
    const middle = () => (view.from + view.to) / 2;
    const note = h('div');
    section.append(h('div', {class: 'toolbar'},
        button('+', 'zoom in', () => zoom(view, 0.5, middle())),
        button('−', 'zoom out', () => zoom(view, 2, middle())),
        button('all', 'show all', () => setView(view, 0, model.end)),
        model.launches.start && clockChoice(view),
        h('span', {class: 'muted'}, `${plural(model.launches.count, 'launch')}`,
          model.launches.stride > 1 && ` (one in ${model.launches.stride} is kept in this page)`,
          `, ${format(model.lasts.reduce((a, b) => a + b, 0), 's')} of GPU time. ${TIMELINE_USE}`)),
        note, h('figure', {}, canvas), view.line,
        h('p', {class: 'muted'}, 'Launches stand in the program’s order. Each was measured alone, so ' +
          'none lies beside another.', model.launches.start ? ' By the program’s time, gaps are those in ' +
          'which the GPU had no kernel; the time that measuring took is taken away.'
            : ' The time between them is not recorded.'));
    canvas.addEventListener('keydown', timelineKeys(view));
    listenToPointer(view);
    new ResizeObserver(() => drawTimeline(view)).observe(canvas);
    section.show = section.redraw = () => drawTimeline(view);
    section.refilter = () => {
        replace(note, filterNote(shownProfiles()));
        drawTimeline(view);
    };
    replace(note, filterNote(shownProfiles()));
    showSelected(view);
    section.view = view;
    return section;
}
