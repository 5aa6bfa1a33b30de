import { stringify } from 'yaml'
import type { Finding } from '../../contract/finding.ts'
import { formatError } from '../../kit/errors.ts'
import { groupByText, joinNames, toPrintable } from '../../kit/text.ts'
import type { Output, OutputFormat } from './command.ts'

/** Prints a result as text or as a versioned document. */
export function printResult(
  stdout: Output,
  format: OutputFormat,
  document: object,
  formatText: () => string,
): void {
  switch (format) {
    case 'json':
      stdout.write(`${JSON.stringify(document, undefined, 2)}\n`)
      return
    case 'yaml':
      stdout.write(stringify(document))
      return
    case 'table':
    case 'wide':
    case 'html':
      stdout.write(formatText())
  }
}

/** Formats findings. Findings that differ only in the host are combined. */
export function formatFindings(findings: readonly Finding[]): string {
  const groups = groupByText(findings, (finding) => JSON.stringify({ ...finding, host: undefined }))
  return groups
    .flatMap(([, [first, ...others]]) => {
      if (first === undefined) return []
      const hosts = [first, ...others].flatMap(({ host }) => host ?? [])
      return [formatFinding(hosts.length === 0 ? first : { ...first, host: joinNames(hosts) })]
    })
    .join('')
}

/**
 * Formats one finding. If the position is known, the text begins with file:line:column, which editors and
 * terminals turn into a link.
 */
export function formatFinding({ position, severity, code, path, message, hint, host }: Finding): string {
  const location = position === undefined ? host : `${position.file}:${position.line}:${position.column}`
  const prefix = location === undefined ? '' : `${location}: `
  const problem = path === undefined || path === '' ? message : `${path} ${message}`
  const hintLine = hint === undefined ? '' : `  → ${hint}\n`
  return toPrintable(`${prefix}${severity} ${code}: ${problem}\n${hintLine}`)
}

/** Formats one difference as a line, for example of two locks. */
export function formatChange({
  what,
  before,
  after,
}: {
  readonly what: string
  readonly before: string | undefined
  readonly after: string | undefined
}): string {
  if (before === undefined) return `+ ${what}: ${after}\n`
  if (after === undefined) return `- ${what}: ${before}\n`
  return `~ ${what}: ${before} → ${after}\n`
}

/** Formats an error without the leading host name, for callers that print the host themselves. */
export function formatHostError(host: string, error: unknown): string {
  const text = formatError(error)
  return text.startsWith(`${host}: `) ? text.slice(host.length + 2) : text
}
