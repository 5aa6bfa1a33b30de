import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'

/** The name under which the executable carries it. */
const asset = 'host.ps1'

/** The script as it is in the repository: a constant, and the only text that PowerShell is ever given to run. */
export async function hostScript(): Promise<string> {
  return isSea() ? getAsset(asset, 'utf8') : readFile(join(import.meta.dirname, asset), 'utf8')
}

/** How Windows PowerShell is started: `-Command -` reads commands from its input, line by line, and writes no prompts. */
export const powershellArguments: readonly string[] = [
  '-NoLogo',
  '-NoProfile',
  '-NonInteractive',
  '-InputFormat',
  'Text',
  '-OutputFormat',
  'Text',
  '-Command',
  '-',
]

/**
 * The first line, which makes the script known. Like every line it has letters, digits, + / and = between its quotes, so
 * that nothing can end them. The script is in no file, where somebody could change it.
 */
export function openingLine(script: string): string {
  return `. ([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(script)}'))))\n`
}

export interface Request {
  readonly id: number
  readonly operation: string
  readonly input: unknown
}

/** Whatever a request says, it travels as data. */
export function requestLine(request: Request): string {
  return `Invoke-HyperkubeRequest '${base64(JSON.stringify(request))}'\n`
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
