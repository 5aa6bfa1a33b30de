import type { Files } from '../../host/files.ts'

/** For the system and administrators alone. */
const closed = { uid: 0, gid: 0, mode: 0o600 }
/** As the directory above says. */
const program = { uid: 0, gid: 0, mode: 0o755 }

/** Undefined without one. */
export async function sizeOf(files: Files, path: string): Promise<number | undefined> {
  return (await files.stat(path))?.size
}

export async function textOf(files: Files, path: string): Promise<string | undefined> {
  return (await files.read(path))?.toString('utf8')
}

export async function digestOf(files: Files, path: string): Promise<string | undefined> {
  return (await files.stat(path)) === undefined ? undefined : files.digest(path)
}

export async function writeText(files: Files, path: string, text: string): Promise<void> {
  await files.write(path, Buffer.from(text), closed)
}

/** A file of this machine, for nobody else to read. */
export async function copyClosed(files: Files, from: string, to: string): Promise<void> {
  await files.copyIn(from, to, closed)
}

/** A file of this machine, to where the host runs it. */
export async function copyProgram(files: Files, from: string, to: string): Promise<void> {
  await files.copyIn(from, to, program)
}

/** For the system and administrators alone, with all that is below it. */
export async function closedDirectory(files: Files, path: string): Promise<void> {
  await files.makeDirectory(path, { uid: 0, gid: 0, mode: 0o700 })
}

/** As the directory above says. */
export async function plainDirectory(files: Files, path: string): Promise<void> {
  await files.makeDirectory(path, program)
}
