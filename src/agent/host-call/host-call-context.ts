import type { WindowsPaths } from '../../contract/host-paths.ts'
import type { HostFiles } from '../host/files.ts'
import type { WindowsHost } from '../host/host.ts'

/** Context of host calls. hyperkube.exe handles these calls itself on a Windows host, without the agent. */
export interface HostCallContext {
  readonly host: WindowsHost
  readonly paths: WindowsPaths
  readonly arch: string
  /** Returns the used share of the disk that contains a path, from 0 to 1. */
  readonly readDiskUsage: (path: string) => Promise<number>
  /** Aborted when the caller has disconnected. Reads then end, but changes to the host are completed. */
  readonly callerGone: AbortSignal
}

/** Access for SYSTEM and administrators only. */
const adminOnlyAccess = { uid: 0, gid: 0, mode: 0o600 }
/** Access inherited from the parent directory. */
const inheritedAccess = { uid: 0, gid: 0, mode: 0o755 }

/** Returns undefined if the file is missing. */
export async function readHostFileSize(files: HostFiles, path: string): Promise<number | undefined> {
  return (await files.stat(path))?.size
}

export async function readHostText(files: HostFiles, path: string): Promise<string | undefined> {
  return (await files.read(path))?.toString('utf8')
}

export async function readHostDigest(files: HostFiles, path: string): Promise<string | undefined> {
  return (await files.stat(path)) === undefined ? undefined : files.digest(path)
}

export async function writeAdminOnlyText(files: HostFiles, path: string, text: string): Promise<void> {
  await files.write(path, Buffer.from(text), adminOnlyAccess)
}

/** Copies a local file; only SYSTEM and administrators may read the copy. */
export async function copyAdminOnly(files: HostFiles, from: string, to: string): Promise<void> {
  await files.copyIn(from, to, adminOnlyAccess)
}

/** Copies a local program to the path from which the host runs it. Access is inherited. */
export async function copyProgram(files: HostFiles, from: string, to: string): Promise<void> {
  await files.copyIn(from, to, inheritedAccess)
}

/** Creates a directory whose contents only SYSTEM and administrators can access. */
export async function makeAdminOnlyDirectory(files: HostFiles, path: string): Promise<void> {
  await files.makeDirectory(path, { uid: 0, gid: 0, mode: 0o700 })
}

/** Creates a directory that inherits access from its parent. */
export async function makeInheritedDirectory(files: HostFiles, path: string): Promise<void> {
  await files.makeDirectory(path, inheritedAccess)
}
