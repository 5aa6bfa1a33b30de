import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { LogSearch, LogsView } from '../views.ts'
import { notice, showView, table } from './parts.ts'
import { formatRoute } from './route.ts'
import type { ViewState } from './store.ts'

/** Durations that the server accepts. */
const durations: readonly LogSearch['since'][] = ['10m', '1h', '6h', '24h']
/** Syslog priorities up to this one are errors. */
const errorPriority = 3

interface LogsPageProps {
  readonly view: Signal<ViewState<LogsView>>
  readonly cluster: string
  /** The search as parameters, for example `component=etcd&since=1h`. */
  readonly search: string
}

/** Log lines of all hosts, merged by time, with a search. */
export function LogsPage({ view, cluster, search }: LogsPageProps): ComponentChild {
  const { result } = view.value
  const components = result?.state === 'read' ? result.document.components : []
  return h(
    'div',
    null,
    renderForm(new URLSearchParams(search), components, cluster),
    showView(view.value, 'reading logs of the hosts', (document) => [
      document.problems === ''
        ? null
        : notice('warning', 'not read', h('p', { class: 'lines' }, document.problems)),
      document.isCut
        ? h('p', { key: 'cut' }, `These are the newest ${document.lines.length} lines; there are more.`)
        : null,
      document.lines.length === 0
        ? h('p', { key: 'none' }, 'no line was found')
        : table(
            'log lines',
            ['Time', 'Host', 'Component', 'Message'],
            document.lines.toReversed().map(renderLine),
            'logs',
          ),
    ]),
  )
}

function renderLine(
  { time, host, component, priority, message }: LogsView['lines'][number],
  index: number,
): ComponentChild {
  return h(
    'tr',
    { key: index },
    h('td', null, h('time', { dateTime: time }, time.replace('T', ' ').replace('Z', ''))),
    h('td', null, host),
    h('td', null, component),
    h('td', { class: priority <= errorPriority ? 'lines bad' : 'lines' }, message),
  )
}

function renderForm(search: URLSearchParams, components: readonly string[], cluster: string): ComponentChild {
  const component = search.get('component') ?? ''
  // The selected component is an option before the list of the server is known.
  const names = [...new Set(component === '' ? components : [component, ...components])]
  return h(
    'form',
    { class: 'search', onSubmit: (event: SubmitEvent) => submit(event, cluster), key: search.toString() },
    h(
      'label',
      null,
      'Component ',
      h(
        'select',
        { name: 'component' },
        h('option', { value: '', selected: component === '' }, 'all'),
        names.map((name) => h('option', { key: name, value: name, selected: name === component }, name)),
      ),
    ),
    h('label', null, 'Host ', h('input', { name: 'host', defaultValue: search.get('host') ?? '', size: 12 })),
    h(
      'label',
      null,
      'Since ',
      h(
        'select',
        { name: 'since' },
        durations.map((one) =>
          h('option', { key: one, value: one, selected: one === (search.get('since') ?? '10m') }, one),
        ),
      ),
    ),
    h(
      'label',
      null,
      'Text ',
      h('input', { name: 'text', id: 'filter', defaultValue: search.get('text') ?? '', size: 24 }),
    ),
    h('button', { type: 'submit' }, 'Search'),
  )
}

/** Puts the search into the address, so that it can be opened again. */
function submit(event: SubmitEvent, cluster: string): void {
  event.preventDefault()
  if (!(event.target instanceof HTMLFormElement)) return
  const search = new URLSearchParams()
  for (const [name, value] of new FormData(event.target))
    if (typeof value === 'string' && value.trim() !== '') search.set(name, value.trim())
  location.hash = formatRoute({ cluster, page: 'logs', item: search.toString() })
}
