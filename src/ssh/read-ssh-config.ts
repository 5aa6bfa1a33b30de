import { glob, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hasCode } from '../kit/errors.ts'
import { noSshConfig, parseSshConfig, type SshConfig } from './ssh-config.ts'

/** Reads ~/.ssh/config with its includes. Returns an empty configuration if the file does not exist. */
export async function readSshConfig(home: string): Promise<SshConfig> {
  const text = await readWithIncludes(join(home, '.ssh/config'), home, 0)
  return text === '' ? noSshConfig : parseSshConfig(text)
}

/** Maximum include depth, as in ssh. */
const maxDepth = 16

async function readWithIncludes(path: string, home: string, depth: number): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    // Unreadable files are skipped, as in ssh.
    if (['ENOENT', 'EACCES', 'EISDIR'].some((code) => hasCode(error, code))) return ''
    throw error
  })
  if (depth >= maxDepth) return text
  const lines = text.split('\n').map(async (line) => {
    const patterns = parseInclude(line)
    if (patterns === undefined) return line
    const files = (await Promise.all(patterns.map(async (pattern) => expandGlob(pattern, home)))).flat()
    const texts = files.map(async (file) => readWithIncludes(file, home, depth + 1))
    return (await Promise.all(texts)).join('\n')
  })
  return (await Promise.all(lines)).join('\n')
}

/** Returns the file patterns of an Include line, and undefined for other lines. */
export function parseInclude(line: string): readonly string[] | undefined {
  const [, rest] = /^\s*include(?:\s*=\s*|\s+)(.*)$/i.exec(line) ?? []
  if (rest === undefined) return undefined
  return [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

async function expandGlob(pattern: string, home: string): Promise<readonly string[]> {
  const expanded = pattern.replace(/^~(?=\/)/, () => home)
  const full = resolve(home, '.ssh', expanded)
  return (await Array.fromAsync(glob(full))).toSorted()
}
