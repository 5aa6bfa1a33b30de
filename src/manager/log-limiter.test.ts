import { expect, test } from 'vitest'
import { Complaints } from './log-limiter.ts'

test('the same is said once, and again when it is news or has gone on for long', () => {
  let now = 0
  const lines: string[] = []
  const complaints = new Complaints({ now: () => now }, (line) => lines.push(line))
  const say = (what: string, message: string): void => complaints.say(what, new Error(message))
  say('nodes', 'away')
  say('nodes', 'away')
  say('pods', 'away')
  say('nodes', 'refused')
  complaints.forget('nodes')
  say('nodes', 'refused')
  now = 600_000
  say('pods', 'away')
  expect(lines).toEqual(['nodes: away', 'pods: away', 'nodes: refused', 'nodes: refused', 'pods: away'])
})
