import type { UnitState } from '../service-manager.ts'

/** For tests: a loaded unit without processes. */
export const idleUnit: UnitState = {
  load: 'loaded',
  active: 'inactive',
  sub: 'dead',
  result: 'success',
  status: 0,
  restarts: 0,
  pid: 0,
  invocation: '',
  busy: false,
  enabled: true,
  needsReload: false,
  type: 'exec',
}
