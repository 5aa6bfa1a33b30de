import type { ProbeHealth } from '../../../contract/health.ts'
import type { Probe } from '../../../contract/probe.ts'
import type { Seen } from '../probe-result.ts'
import type { ProbeSeen } from './component-observation.ts'

/** What came of a probe the last times. */
export interface Counted extends ProbeSeen {
  /** How often it has failed in a row. */
  readonly failures: number
}

export function neverAsked(component: string, probe: Probe, now: number): Counted {
  return {
    component,
    probe: probe.name,
    scope: probe.scope,
    kind: probe.check.kind,
    state: 'unknown',
    since: new Date(now).toISOString(),
    failures: 0,
  }
}

/** With one more answer. */
export function counted(before: Counted, probe: Probe, answer: Seen, now: number): Counted {
  const { component, probe: name, scope, kind } = before
  const failures = answer.state === 'failed' ? before.failures + 1 : 0
  const state = stateOf(answer, failures >= probe.failures)
  return {
    component,
    probe: name,
    scope,
    kind,
    state,
    since: state === before.state ? before.since : new Date(now).toISOString(),
    ...(answer.state === 'well' ? {} : { seen: answer.seen }),
    ...(answer.state === 'failed' && answer.code !== undefined ? { code: answer.code } : {}),
    failures,
    asked: now,
  }
}

function stateOf({ state }: Seen, often: boolean): ProbeHealth['state'] {
  if (state !== 'failed') return state
  return often ? 'failing' : 'shaky'
}

/** As others are told of it. */
export function toldOf({ kind: _kind, asked: _asked, failures: _failures, ...health }: Counted): ProbeHealth {
  return health
}
