import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'

/** Name of the script asset in the executable. */
const asset = 'host.ps1'

/** Reads the script host.ps1. It is constant and the only code that PowerShell runs. */
export async function readHostScript(): Promise<string> {
  return isSea() ? getAsset(asset, 'utf8') : readFile(join(import.meta.dirname, asset), 'utf8')
}

/**
 * Arguments of Windows PowerShell. With `-Command -` it reads commands from stdin line by line and writes no
 * prompts.
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
 * Formats the first line, which defines the script. Base64 contains no quotes, so the script cannot end the
 * quoted string. The script is never written to a file, where it could be changed.
 */
export function formatOpeningLine(script: string): string {
  return `. ([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(script)}'))))\n`
}

export interface ScriptRequest {
  readonly id: number
  readonly operation: string
  readonly input: unknown
}

/** Formats a request. Its content is passed as data, never as code. */
export function formatRequestLine(request: ScriptRequest): string {
  return `Invoke-HyperkubeRequest '${base64(JSON.stringify(request))}'\n`
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
