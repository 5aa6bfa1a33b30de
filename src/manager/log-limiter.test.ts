import { expect, test } from 'vitest'
import { LogLimiter } from './log-limiter.ts'

test('the same error is logged once, and again after a change or a long time', () => {
  let now = 0
  const lines: string[] = []
  const logLimiter = new LogLimiter({ now: () => now }, (line) => lines.push(line))
  const report = (what: string, message: string): void => logLimiter.report(what, new Error(message))
  report('nodes', 'away')
  report('nodes', 'away')
  report('pods', 'away')
  report('nodes', 'refused')
  logLimiter.reset('nodes')
  report('nodes', 'refused')
  now = 600_000
  report('pods', 'away')
  expect(lines).toEqual(['nodes: away', 'pods: away', 'nodes: refused', 'nodes: refused', 'pods: away'])
})
