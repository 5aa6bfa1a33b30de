import { win32 } from 'node:path'

/**
 * Directory for files that a client uploads, so that the host need not download them. Client and agent must
 * use the same path. Only root can read it.
 */
export const uploadDirectory = '/var/lib/hyperkube/agent/delivered'

/** Directory of the agent's state on a Linux host. */
export const linuxStateDirectory = '/var/lib/hyperkube/agent'

/** Socket of the agent on a Linux host. Only root can connect. */
export const linuxAgentSocket = '/run/hyperkube/agent.sock'

/**
 * Timer that rolls a Linux host back to its previous agent. It exists from the switch to a new agent until an
 * operator has confirmed the agent.
 */
export const agentRollbackTimer = '/etc/systemd/system/hyperkube-revert.timer'

/** File in which a kubelet on Linux sets how long a shutdown may take. It never removes the file. */
export const kubeletShutdownFile = '/etc/systemd/logind.conf.d/99-kubelet.conf'

/** Upload directory on a Windows host, below the base directory from cluster.yml. */
export function windowsUploadDirectory(base: string): string {
  return String.raw`${base.replace(/\\+$/, '')}\state\agent\delivered`
}

/**
 * Path of an uploaded file, relative to the upload directory. `sha256` is the digest of its content in hex.
 */
export function uploadedFilePath(sha256: string): string {
  return `files/${sha256}`
}

/**
 * Path of an uploaded image archive, relative to the upload directory. `digest` is the digest of the image
 * manifest: sha256:…
 */
export function uploadedImagePath(digest: string): string {
  return `images/${digest.replace('sha256:', '')}.tar`
}

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

/** Returns the base directory of an installed hyperkube.exe; undefined if it is not at its final path. */
export function findWindowsBase(program: string): string | undefined {
  return /^(.+)\\programs\\hyperkube-[^\\]+\\hyperkube\.exe$/i.exec(program)?.[1]
}

/** Pattern of version names that are safe as a path element and in a shell. */
export const versionPattern = /^[0-9A-Za-z][0-9A-Za-z_.-]{0,80}$/

/** Directory for uploads before hyperkube is installed, relative to the home directory of the login user. */
export const setupDirectory = 'hyperkube-setup'

/** Suffix of a file until its upload is complete. */
export const unfinishedUploadSuffix = '.hyperkube-upload'
