import type { Signal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { CertificatesView } from '../views.ts'
import { badge, formatDays, formatTime, notice, showView, table } from './parts.ts'
import type { ViewState } from './store.ts'

type Certificate = CertificatesView['certificates'][number]

/** Certificates by expiry, then the CAs. The bar shows how much of the lifetime has passed. */
export function CertificatesPage({
  view,
}: {
  readonly view: Signal<ViewState<CertificatesView>>
}): ComponentChild {
  return showView(view.value, 'reading certificates of all hosts', (document, at) => {
    const now = Date.parse(at)
    const sorted = document.certificates.toSorted((a, b) => ((a.until ?? '') < (b.until ?? '') ? -1 : 1))
    return [
      ...document.unreachable.map(({ host, reason }) =>
        notice('warning', host, h('p', null, `not read: ${reason}`)),
      ),
      h('h2', { key: 'hosts' }, 'Certificates of hosts'),
      table(
        'certificates',
        heads,
        sorted.map((one) => renderCertificate(one, now)),
      ),
      h('h2', { key: 'cas' }, 'CAs'),
      table(
        'CAs',
        ['CA', 'Key', 'Replacement', 'Lifetime', 'Expires', 'Until'],
        document.cas.map(({ ca, use, phase = '-', from, until }) =>
          h(
            'tr',
            { key: `${ca} ${use}` },
            h('th', { scope: 'row' }, ca),
            h('td', null, use),
            h('td', null, phase),
            h('td', null, renderLifetime(from, until, now)),
            h('td', null, formatDays(until, now)),
            h('td', null, formatTime(until)),
          ),
        ),
      ),
    ]
  })
}

const heads = ['Host', 'Component', 'Certificate', 'CA', 'State', 'Lifetime', 'Renewal', 'Expires', 'Until']
const tones = { good: 'ok', due: 'warn', expired: 'bad', missing: 'bad' } as const

function renderCertificate(
  { host, component, file, ca, state, from, until, due }: Certificate,
  now: number,
): ComponentChild {
  return h(
    'tr',
    { key: `${host} ${file}` },
    h('th', { scope: 'row' }, host),
    h('td', null, component),
    h('td', null, file.replace(/^.*[/\\]/, '')),
    h('td', null, ca),
    h('td', null, badge(tones[state], state)),
    h('td', null, renderLifetime(from, until, now)),
    h('td', null, formatDays(due, now)),
    h('td', null, formatDays(until, now)),
    h('td', null, formatTime(until)),
  )
}

function renderLifetime(from: string | undefined, until: string | undefined, now: number): ComponentChild {
  if (from === undefined || until === undefined) return '-'
  const [start, end] = [Date.parse(from), Date.parse(until)]
  const share = Math.min(1, Math.max(0, (now - start) / Math.max(1, end - start)))
  const percent = Math.round(share * 100)
  return h('progress', { max: 100, value: percent, 'aria-label': `${percent}% of the lifetime has passed` })
}
