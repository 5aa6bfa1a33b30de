import { win32 } from 'node:path'
import { windowsUploadDirectory } from './uploads.ts'

/**
 * Paths on a Windows host that client and host must agree on before a plan exists. All are below the base
 * directory from cluster.yml.
 */
export interface WindowsPaths {
  readonly base: string
  /** Directory of the agent's state. */
  readonly state: string
  /** Directory for uploaded files. */
  readonly uploads: string
  /** File with one line: the version of hyperkube that the host runs. */
  readonly currentVersionFile: string
  readonly logs: string
  readonly programs: string
  /** Returns the path of hyperkube.exe of a version. */
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

/** Pattern of version names that are safe as a path element and in a shell. */
export const versionPattern = /^[0-9A-Za-z][0-9A-Za-z_.-]{0,80}$/

/** Directory for uploads before hyperkube is installed, relative to the home directory of the login user. */
export const setupDirectory = 'hyperkube-setup'

/** Suffix of a file until its upload is complete. */
export const unfinishedUploadSuffix = '.hyperkube-upload'
