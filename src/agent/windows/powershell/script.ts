import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'

/** Asset name in the executable. */
const asset = 'host.ps1'

/** The script from the repository. It is constant and the only code that PowerShell ever runs. */
export async function readHostScript(): Promise<string> {
  return isSea() ? getAsset(asset, 'utf8') : readFile(join(import.meta.dirname, asset), 'utf8')
}

/**
 * Arguments of Windows PowerShell. `-Command -` reads commands from stdin line by line and writes no prompts.
 */
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
 * The first line, which defines the script. Between its quotes are only letters, digits, + / and =, so
 * nothing can end them. The script is never a file, where it could be changed.
 */
export function formatOpeningLine(script: string): string {
  return `. ([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(script)}'))))\n`
}

export interface ScriptRequest {
  readonly id: number
  readonly operation: string
  readonly input: unknown
}

/** Formats a request. Its content travels as data, never as code. */
export function formatRequestLine(request: ScriptRequest): string {
  return `Invoke-HyperkubeRequest '${base64(JSON.stringify(request))}'\n`
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
