import { glob, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode } from '../kit/errors.ts'
import { noSshConfig, parseSshConfig, type SshConfig } from './ssh-config.ts'

/** The operator's own settings of ssh, with all that they include; those of a person without any are empty. */
export async function readSshConfig(home: string): Promise<SshConfig> {
  const text = await readWithIncludes(join(home, '.ssh/config'), home, 0)
  return text === '' ? noSshConfig : parseSshConfig(text)
}

/** As many levels as ssh itself goes down. */
const deepest = 16

async function readWithIncludes(path: string, home: string, depth: number): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    // ssh passes over what it may not read, too.
    if (['ENOENT', 'EACCES', 'EISDIR'].some((code) => hasCode(error, code))) return ''
    throw error
  })
  if (depth >= deepest) return text
  const lines = text.split('\n').map(async (line) => {
    const patterns = includedBy(line)
    if (patterns === undefined) return line
    const files = (await Promise.all(patterns.map(async (pattern) => found(pattern, home)))).flat()
    const texts = files.map(async (file) => readWithIncludes(file, home, depth + 1))
    return (await Promise.all(texts)).join('\n')
  })
  return (await Promise.all(lines)).join('\n')
}

/** The patterns of an Include line; undefined when it is another line. */
export function includedBy(line: string): readonly string[] | undefined {
  const [, rest] = /^\s*include(?:\s*=\s*|\s+)(.*)$/i.exec(line) ?? []
  if (rest === undefined) return undefined
  return [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

async function found(pattern: string, home: string): Promise<readonly string[]> {
  const expanded = pattern.replace(/^~(?=\/)/, () => home)
  const full = resolve(home, '.ssh', expanded)
  return (await Array.fromAsync(glob(full))).toSorted()
}
