import { win32 } from 'node:path'
import { windowsUploadDirectory } from './uploads.ts'

/**
 * Paths on a Windows host that client and host agree on before there is a plan. All are below one base
 * directory from cluster.yml.
 */
export interface WindowsPaths {
  readonly base: string
  /** State of the agent. */
  readonly state: string
  /** Uploads for the next runs. */
  readonly uploads: string
  /** File with one line: the version of hyperkube that the host runs. */
  readonly currentVersionFile: string
  readonly logs: string
  readonly programs: string
  /** hyperkube.exe of a version. */
  readonly program: (version: string) => string
}

export function buildWindowsPaths(base: string): WindowsPaths {
  const state = win32.join(base, 'state', 'agent')
  const programs = win32.join(base, 'programs')
  return {
    base,
    state,
    uploads: windowsUploadDirectory(base),
    currentVersionFile: win32.join(state, 'current'),
    logs: win32.join(base, 'logs'),
    programs,
    program: (version) => win32.join(programs, `hyperkube-${version}`, 'hyperkube.exe'),
  }
}

/** Safe as a path element and in a shell. */
export const versionPattern = /^[0-9A-Za-z][0-9A-Za-z_.-]{0,80}$/

/** Directory for uploads before hyperkube is installed, relative to the login's home directory. */
export const setupDirectory = 'hyperkube-setup'

/** Suffix of a file until its upload is complete. */
export const unfinishedUploadSuffix = '.hyperkube-upload'
