import { hasCode } from '../../kit/errors.ts'

/** Owner and permissions of a file. */
export interface FileAccess {
  readonly uid: number
  readonly gid: number
  readonly mode: number
  /** Windows security descriptor, set if it must be restored exactly. */
  readonly sddl?: string | undefined
}

/** Metadata of a path. Links are not followed. */
export interface FileFacts extends FileAccess {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly size: number
  /**
   * A file whose inode, `modified` and `changed` are the same as before has not changed. Times are
   * nanoseconds as text, because they exceed safe integers.
   */
  readonly inode: string
  readonly modified: string
  readonly changed: string
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileFacts['kind']
}

/**
 * Files of a host. Writes are atomic, and their data is on disk when the call returns. Calls cannot be
 * aborted.
 */
export interface HostFiles {
  /** Returns undefined if the path does not exist. */
  stat(path: string): Promise<FileFacts | undefined>
  /** Returns the SHA-256 of a file's content, in hex. */
  digest(path: string): Promise<string>
  /** Returns the content of a file; undefined if the file does not exist. */
  read(path: string): Promise<Buffer | undefined>
  write(path: string, content: Uint8Array, access: FileAccess): Promise<void>
  append(path: string, text: string, mode: number): Promise<void>
  /** Truncates a file to which other processes may still append. */
  empty(path: string): Promise<void>
  /** Copies a file from the file system of this process. */
  copyIn(from: string, path: string, access: FileAccess): Promise<void>
  /** Creates a directory. Missing parents are created too, owned by root, and returned, outermost first. */
  makeDirectory(path: string, access: FileAccess): Promise<readonly string[]>
  setAccess(path: string, access: FileAccess): Promise<void>
  /** Lists a directory; undefined if the path is not a directory. */
  list(path: string): Promise<readonly DirectoryEntry[] | undefined>
  /** Returns the target of a link; undefined if the path is not a link. */
  readLink(path: string): Promise<string | undefined>
  /** Creates a link and replaces an existing one. */
  makeLink(path: string, to: string): Promise<void>
  /** Moves a file or directory within the same file system. An existing file at the target is replaced. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file, a link or an empty directory. Returns false if the path does not exist. */
  remove(path: string): Promise<boolean>
  removeTree(path: string): Promise<void>
  /** Flushes everything below a directory to disk. */
  syncTree(path: string): Promise<void>
}

/** Suffix of unfinished files. A later run recognizes unfinished files by this suffix and deletes them. */
export const unfinishedSuffix = '.hyperkube-tmp'

/** True if Windows refused a change because the file is in use. */
export function isFileLocked(error: unknown): boolean {
  return ['EBUSY', 'EPERM', 'EACCES'].some((code) => hasCode(error, code))
}
