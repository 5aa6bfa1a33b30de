import { hasCode } from '../../kit/errors.ts'

/** Who may do what with a file. */
export interface Access {
  readonly uid: number
  readonly gid: number
  readonly mode: number
  /** The same in the words of Windows, where it is to be exactly as it was found. */
  readonly sddl?: string | undefined
}

/** What the file system says of a path, without following a link. */
export interface FileFacts extends Access {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly size: number
  /** With the two times it tells whether a file may have changed. Times are in nanoseconds, as text: they are too long for numbers. */
  readonly inode: string
  readonly modified: string
  readonly changed: string
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileFacts['kind']
}

/**
 * The files of a host. What is written is there as a whole or not at all, and outlives a power cut once the call has
 * ended; none of these calls can be cut short.
 */
export interface Files {
  /** Nothing when there is nothing at the path. */
  stat(path: string): Promise<FileFacts | undefined>
  /** The sha256 of a file's content, in hex. */
  digest(path: string): Promise<string>
  /** Nothing when there is no file. */
  read(path: string): Promise<Buffer | undefined>
  write(path: string, content: Uint8Array, access: Access): Promise<void>
  append(path: string, text: string, mode: number): Promise<void>
  /** Takes all out of a file that others may go on appending to. */
  empty(path: string): Promise<void>
  /** A copy of a file that is wherever this program finds it. */
  copyIn(from: string, path: string, access: Access): Promise<void>
  /** With the parents that are missing, which belong to root; answers with those, from the outermost on. */
  makeDirectory(path: string, access: Access): Promise<readonly string[]>
  setAccess(path: string, access: Access): Promise<void>
  /** Nothing when it is no directory. */
  list(path: string): Promise<readonly DirectoryEntry[] | undefined>
  /** Where a link leads; nothing when there is no link. */
  readLink(path: string): Promise<string | undefined>
  /** Takes the place of a link that may be there. */
  makeLink(path: string, to: string): Promise<void>
  /** Puts a file or a directory in another place of the same file system, where none may be but a file. */
  rename(from: string, to: string): Promise<void>
  /** Of a file, a link or an empty directory; false when nothing was there. */
  remove(path: string): Promise<boolean>
  removeTree(path: string): Promise<void>
  /** Brings everything below a directory to the disk. */
  syncTree(path: string): Promise<void>
}

/** Ends the names of what was never finished, so that whoever comes next may take it away. */
export const unfinished = '.hyperkube-tmp'

/** Whether a file could not be changed because somebody uses it, as Windows says it. */
export function isLocked(error: unknown): boolean {
  return ['EBUSY', 'EPERM', 'EACCES'].some((code) => hasCode(error, code))
}
