import type { Op } from '../../contract/op.ts'
import { nouns } from '../plan/op-summary.ts'

const verbs: Readonly<Record<Op['action'], readonly [done: string, doing: string]>> = {
  create: ['new', 'making'],
  change: ['changed', 'changing'],
  remove: ['removed', 'removing'],
  start: ['started', 'starting'],
  restart: ['restarted', 'restarting'],
  stop: ['stopped', 'stopping'],
}

/** What was done, as one says it afterwards. */
export function opText({ action, target, name }: Op): string {
  return `${verbs[action][0]} ${nouns[target]} ${name}`
}

/** What is being done. */
export function doingText({ action, target, name }: Op): string {
  return `${verbs[action][1]} ${nouns[target]} ${name}`
}

/** What somebody waits for: most say it as a thing that shall happen, gates as a state that shall be. */
export function waitText(what: string): string {
  return what.startsWith('until ') ? `waiting ${what}` : `waiting for ${what}`
}
