import { win32 } from 'node:path'
import { windowsDeliveries } from './uploads.ts'

/**
 * What an operator's side and a Windows host must agree on before there is a plan: all of ours is below one directory,
 * which cluster.yml names.
 */
export interface WindowsPlaces {
  readonly base: string
  /** What the agent remembers. */
  readonly state: string
  /** What was brought to the host for the next runs. */
  readonly delivered: string
  /** Says which hyperkube the host runs now, by its version: a text of one line. */
  readonly current: string
  readonly logs: string
  readonly programs: string
  /** hyperkube of a version. */
  readonly program: (version: string) => string
}

export function windowsPlaces(base: string): WindowsPlaces {
  const state = win32.join(base, 'state', 'agent')
  const programs = win32.join(base, 'programs')
  return {
    base,
    state,
    delivered: windowsDeliveries(base),
    current: win32.join(state, 'current'),
    logs: win32.join(base, 'logs'),
    programs,
    program: (version) => win32.join(programs, `hyperkube-${version}`, 'hyperkube.exe'),
  }
}

/** Nothing in it leads out of a directory, or means anything to a shell. */
export const versionPattern = /^[0-9A-Za-z][0-9A-Za-z_.-]{0,80}$/

/** Where a login finds what it was brought before anything of ours is there, in its own directory. */
export const setupDirectory = 'hyperkube-setup'

/** What a path ends with until its file is whole. */
export const unfinishedUpload = '.hyperkube-upload'
