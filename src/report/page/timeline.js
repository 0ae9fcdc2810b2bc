/* The launches by stream, in the program's order. A profile has the time of each kernel and, of newer
 * versions, when the program launched it. By GPU time they stand one behind the other; by the
 * program's time where they were launched, without the time that measuring took. Launches narrower
 * than a pixel are drawn as the longest launch of that pixel. */

const ROW = 26, MOST_ROWS = 24;

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

function kernelColor(profile, number) {
    return number === NO_KERNEL ? OTHER_COLOR : profile.kernels[number]?.color ?? OTHER_COLOR;
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

function drawTimeline(view) {
    const {canvas, model} = view, ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = 24 + ROW * model.names.length;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const ctx = canvas.getContext('2d');
    ctx.scale(ratio, ratio);
    ctx.font = `12px ${Chart.defaults.font.family}`;
    view.left = width < 560 ? 8 : 130;
    view.scale = (width - view.left - 4) / (view.to - view.from);
    ctx.fillStyle = cssColor('--grid');
    model.names.forEach((name, row) => {
        ctx.fillStyle = cssColor('--track');
        ctx.fillRect(view.left, 3 + row * ROW, width - view.left - 4, ROW - 4);
        ctx.fillStyle = cssColor('--muted');
        if (view.left > 100)
            ctx.fillText(name, 4, row * ROW + 18, view.left - 10);
    });
    drawAxis(ctx, view, width, height);
    drawLaunches(ctx, view, width);
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
        const text = shortNumber(i * step, 's');
        ctx.fillText(i === 0 ? '0' : text, Math.min(x + 3, width - ctx.measureText(text).width - 2),
                     height - 7);
    }
}

function niceStep(rough) {
    const power = 10 ** Math.floor(Math.log10(rough || 1));
    return power * [1, 2, 5, 10].find(m => m * power >= rough);
}

function drawLaunches(ctx, view, width) {
    const {model} = view, {launches, start} = model;
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
        ctx.fillStyle = kernelColor(model.profile, launches.kernel[i]);
        ctx.fillRect(w < 1 ? column : x, 3 + row * ROW, w < 1 ? 1 : w > 4 ? w - 0.5 : w, ROW - 4);
        if (w > 60 && launches.kernel[i] !== NO_KERNEL) {
            const label = model.profile.kernels[launches.kernel[i]]?.label ?? '';
            ctx.fillStyle = '#fff';
            ctx.fillText(shorten(label, Math.floor((w - 8) / 7)), x + 4, row * ROW + 18, w - 8);
        }
    }
    if (view.selected >= 0) {
        const i = view.selected, row = model.rowOf[launches.stream[i]];
        const x = view.left + (start[i] - view.from) * view.scale;
        ctx.strokeStyle = cssColor('--text');
        ctx.lineWidth = 2;
        ctx.strokeRect(x - 1, 2 + row * ROW,
                       Math.max(3, model.lasts[i] * view.scale + 2), ROW - 2);
    }
}

function describeLaunch(model, i) {
    const {launches} = model, kernel = model.profile.kernels[launches.kernel[i]];
    const seconds = launches.metric('duration')?.[i];
    const parts = [h('b', {}, kernel ? kernel.label : 'a kernel that is not listed'), h('br'),
        `launch ${grouped(launches.index[i])} · ${format(seconds, 's')} · `,
        `${plural(launches.blocks[i], 'block')}`,
        kernel && ` of ${extent(kernel.block)} threads`];
    const occupancy = launches.metric('achieved_occupancy')?.[i];
    if (isNumber(occupancy))
        parts.push(h('br'), `occupancy ${format(occupancy, 'ratio')}`);
    return parts;
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

function select(view, i) {
    view.selected = i;
    const {model} = view;
    if (i < 0) {
        hideTip();
        drawTimeline(view);
        return;
    }
    const middle = model.start[i] + model.lasts[i] / 2;
    if (middle < view.from || middle > view.to) {
        const span = view.to - view.from;
        view.from = Math.min(Math.max(0, middle - span / 2), model.end - span);
        view.to = view.from + span;
    }
    drawTimeline(view);
    const box = view.canvas.getBoundingClientRect();
    const row = model.rowOf[model.launches.stream[i]];
    showTip(describeLaunch(model, i), box.left + view.left + (middle - view.from) * view.scale,
            box.top + (row + 1) * ROW);
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
            'Escape': () => select(view, -1),
            'Enter': () => openLaunch(view, view.selected),
        };
        if (actions[event.key] && !event.ctrlKey && !event.metaKey) {
            event.preventDefault();
            actions[event.key]();
        }
    };
}

function openLaunch(view, i) {
    const kernel = i >= 0 && view.model.profile.kernels[view.model.launches.kernel[i]];
    if (kernel)
        openKernel(kernel);
}

/* The launch under the pointer, -1 where there is none. */
function launchUnder(view, event) {
    const {model} = view, box = view.canvas.getBoundingClientRect();
    const time = view.from + (event.clientX - box.left - view.left) / view.scale;
    const row = Math.floor((event.clientY - box.top) / ROW);
    if (time < 0 || row >= model.names.length)
        return -1;
    const first = launchAt(model, time - 2 / view.scale);
    for (let i = first; i < model.launches.count && model.start[i] <= time + 2 / view.scale; i++)
        if (model.rowOf[model.launches.stream[i]] === row && endOf(model, i) >= time - 2 / view.scale)
            return i;
    return -1;
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
        if (drag && Math.abs(event.clientX - drag.x) > 3) {
            drag.moved = true;
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
            openLaunch(view, launchUnder(view, event));
        drag = null;
    });
    canvas.addEventListener('pointerleave', hideTip);
}

function clockChoice(view) {
    return h('select', {'aria-label': 'time', onchange: event => {
        placeLaunches(view.model, event.target.value === 'program');
        view.selected = -1;
        setView(view, 0, view.model.end);
    }}, h('option', {value: 'gpu'}, 'by GPU time'), h('option', {value: 'program'}, 'by the program’s time'));
}

function timelineSection(profile, title) {
    const model = timelineModel(profile);
    const section = h('section', {id: 'timeline'}, h('h2', {}, title || 'Timeline'));
    if (model.launches.count === 0 || model.end <= 0) {
        section.append(h('p', {class: 'muted'}, 'The profile holds no launch whose time was measured.'));
        return section;
    }
    const canvas = h('canvas', {class: 'timeline', tabindex: 0, role: 'img',
        'aria-label': 'Launches by stream. Arrow keys go from launch to launch, + and - zoom, ' +
                      'Page Up and Page Down move, Enter opens the kernel.'});
    canvas.style.height = `${24 + ROW * model.names.length}px`;
    const view = {canvas, model, from: 0, to: model.end, selected: -1};
    const button = (text, label, act) =>
        h('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, text);
    const middle = () => (view.from + view.to) / 2;
    section.append(h('div', {class: 'toolbar'},
        button('+', 'zoom in', () => zoom(view, 0.5, middle())),
        button('−', 'zoom out', () => zoom(view, 2, middle())),
        button('all', 'show all', () => setView(view, 0, model.end)),
        model.launches.start && clockChoice(view),
        h('span', {class: 'muted'}, `${plural(model.launches.count, 'launch')}`,
          model.launches.stride > 1 && ` (one in ${model.launches.stride} is kept in this page)`,
          `, ${format(model.lasts.reduce((a, b) => a + b, 0), 's')} of GPU time. Drag to move; click, then use the wheel to zoom.`)),
        h('figure', {}, canvas),
        h('p', {class: 'muted'}, 'Launches stand in the program’s order. Each was measured alone, so ' +
          'none lies beside another.', model.launches.start ? ' By the program’s time, gaps are those in ' +
          'which the GPU had no kernel; the time that measuring took is taken away.'
            : ' The time between them is not recorded.'));
    canvas.addEventListener('keydown', timelineKeys(view));
    listenToPointer(view);
    new ResizeObserver(() => drawTimeline(view)).observe(canvas);
    section.show = () => drawTimeline(view);
    section.redraw = () => drawTimeline(view);
    section.view = view;
    return section;
}
