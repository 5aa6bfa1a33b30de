import type { Op } from '../../contract/op.ts'
import { targetNouns } from '../text/op-summary.ts'

const verbs: Readonly<Record<Op['action'], readonly [done: string, doing: string]>> = {
  create: ['created', 'creating'],
  change: ['changed', 'changing'],
  remove: ['removed', 'removing'],
  start: ['started', 'starting'],
  restart: ['restarted', 'restarting'],
  stop: ['stopped', 'stopping'],
}

/** Describes an op that has ended. */
export function formatEndedOp({ action, target, name }: Op): string {
  return `${verbs[action][0]} ${targetNouns[target]} ${name}`
}

/** Describes a running op. */
export function formatRunningOp({ action, target, name }: Op): string {
  return `${verbs[action][1]} ${targetNouns[target]} ${name}`
}

/** Describes a wait. The condition of a gate starts with "until"; other waits name what they wait for. */
export function formatWait(condition: string): string {
  return condition.startsWith('until ') ? `waiting ${condition}` : `waiting for ${condition}`
}
