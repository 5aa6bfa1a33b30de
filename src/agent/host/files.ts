import { hasCode } from '../../kit/errors.ts'

/** Owner and permissions of a file. */
export interface FileAccess {
  readonly uid: number
  readonly gid: number
  readonly mode: number
  /** The Windows access list, if it must be restored exactly. */
  readonly sddl?: string | undefined
}

/** Metadata of a path; links are not followed. */
export interface FileFacts extends FileAccess {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly size: number
  /**
   * Inode and both times together show whether a file may have changed. Times are nanoseconds as text,
   * because they exceed safe integers.
   */
  readonly inode: string
  readonly modified: string
  readonly changed: string
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileFacts['kind']
}

/** Files of a host. Writes are atomic, and durable once the call has returned. No call can be aborted. */
export interface HostFiles {
  /** Undefined if the path does not exist. */
  stat(path: string): Promise<FileFacts | undefined>
  /** The sha256 of the content, in hex. */
  digest(path: string): Promise<string>
  /** Undefined if there is no file. */
  read(path: string): Promise<Buffer | undefined>
  write(path: string, content: Uint8Array, access: FileAccess): Promise<void>
  append(path: string, text: string, mode: number): Promise<void>
  /** Truncates a file that others may still append to. */
  empty(path: string): Promise<void>
  /** Copies a file from the file system of this process. */
  copyIn(from: string, path: string, access: FileAccess): Promise<void>
  /** Also creates missing parents, owned by root. Returns those, outermost first. */
  makeDirectory(path: string, access: FileAccess): Promise<readonly string[]>
  setAccess(path: string, access: FileAccess): Promise<void>
  /** Undefined if the path is not a directory. */
  list(path: string): Promise<readonly DirectoryEntry[] | undefined>
  /** Target of a link; undefined if there is no link. */
  readLink(path: string): Promise<string | undefined>
  /** Replaces an existing link. */
  makeLink(path: string, to: string): Promise<void>
  /** Moves a file or directory within the same file system. The target may only be a file. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file, a link or an empty directory; false if nothing existed. */
  remove(path: string): Promise<boolean>
  removeTree(path: string): Promise<void>
  /** Flushes everything below a directory to disk. */
  syncTree(path: string): Promise<void>
}

/** Suffix of unfinished files, so that a later run can delete them. */
export const unfinishedSuffix = '.hyperkube-tmp'

/** True if Windows refused a change because the file is in use. */
export function isFileLocked(error: unknown): boolean {
  return ['EBUSY', 'EPERM', 'EACCES'].some((code) => hasCode(error, code))
}
