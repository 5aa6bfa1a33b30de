import { expect, test } from 'vitest'
import { LogLimiter } from './log-limiter.ts'

test('the same error is logged once, and again after a change or a long time', () => {
  let now = 0
  const lines: string[] = []
  const logLimiter = new LogLimiter({ now: () => now }, (line) => lines.push(line))
  const report = (what: string, message: string): void => logLimiter.report(what, new Error(message))
  report('nodes', 'unreachable')
  report('nodes', 'unreachable')
  report('pods', 'unreachable')
  report('nodes', 'refused')
  logLimiter.reset('nodes')
  report('nodes', 'refused')
  now = 600_000
  report('pods', 'unreachable')
  expect(lines).toEqual([
    'nodes: unreachable',
    'pods: unreachable',
    'nodes: refused',
    'nodes: refused',
    'pods: unreachable',
  ])
})
