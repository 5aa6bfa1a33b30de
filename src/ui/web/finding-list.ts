import { h, type ComponentChild } from 'preact'
import type { DoctorView } from '../views.ts'
import { badge, command, formatTime } from './parts.ts'

type Finding = DoctorView['findings'][number]

/** Causes with their explanation and the command to type. Effects are folded below their cause. */
export function FindingList({ view: { findings } }: { readonly view: DoctorView }): ComponentChild {
  const causes = findings.filter(({ causedBy }) => causedBy === undefined)
  if (causes.length === 0) return h('p', null, badge('ok', 'no problems found'))
  return h(
    'div',
    null,
    causes.map((cause) =>
      renderCause(
        cause,
        findings.filter(({ causedBy }) => causedBy === formatKey(cause)),
      ),
    ),
  )
}

/** The same text as `formatDiagnosisKey` in src/lifecycle/doctor, to which effects refer. */
function formatKey({ code, host, component }: Finding): string {
  const subject = [host, component].filter((part) => part !== undefined)
  return subject.length === 0 ? code : `${code} ${subject.join('/')}`
}

function renderCause(finding: Finding, effects: readonly Finding[]): ComponentChild {
  const { code, severity, since, evidence, meaning, healing, needsOperator } = finding
  return h(
    'article',
    { class: `notice ${severity}`, key: formatKey(finding) },
    h('h3', null, `${severity} ${code}: `, describe(finding)),
    since === undefined ? null : h('p', { class: 'dim' }, `since ${formatTime(since)}`),
    meaning === '' ? null : h('p', null, meaning),
    evidence.length === 0
      ? null
      : h(
          'ul',
          { class: 'evidence' },
          evidence.map((line) => h('li', { key: line }, line)),
        ),
    healing === undefined
      ? null
      : h(
          'p',
          { class: 'dim' },
          `${healing.lastAction === undefined ? '' : `agent did: ${healing.lastAction}; `}agent next: ${healing.nextAction}`,
        ),
    h('p', null, needsOperator ? badge('warn', 'needs manual action') : null, ' ', command(finding.command)),
    effects.length === 0
      ? null
      : h(
          'details',
          null,
          h('summary', null, effects.length === 1 ? '1 effect' : `${effects.length} effects`),
          h(
            'ul',
            null,
            effects.map((one) => h('li', { key: formatKey(one) }, `${one.code}: ${describe(one)}`)),
          ),
        ),
  )
}

function describe({ what, host, component }: Finding): string {
  // A problem without a component needs no subject, because its summary already contains the host name.
  return component === undefined ? what : `${host === undefined ? '' : `${host}/`}${component}: ${what}`
}
