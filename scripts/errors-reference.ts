import { type ErrorCodeArea, errorCodeAreas } from '../src/error-codes/error-codes.ts'
import type { ErrorCodeEntry } from '../src/error-codes/entry.ts'
import { formatAnchor } from './anchor.ts'

/** Renders docs/reference/errors.md from the error codes, with one section for each area. */
export function renderErrorsReference(): string {
  return `# Error codes

Made by \`npm run reference\` from src/error-codes; do not edit. These are the codes of all errors and warnings. A code keeps its meaning from release to release, so it can be
searched for, and a program can rely on it: with \`-o json\` it stands in \`code\` of each finding. What a message says of the
case at hand, above all its hint, goes before what is said here. What a command's end means is in
[exit codes](exit-codes.md).

${errorCodeAreas.map(({ title }) => `- [${title}](#${formatAnchor(title)})`).join('\n')}

${errorCodeAreas.map(renderSection).join('\n')}`
}

function renderSection({ title, entries }: ErrorCodeArea): string {
  return `## ${title}\n\n${Object.entries(entries)
    .map(([code, entry]) => renderEntry(code, entry))
    .join('\n')}`
}

function renderEntry(code: string, { summary, meaning, remedy }: ErrorCodeEntry): string {
  return `### ${code}\n\n${meaning === undefined ? summary : `${summary} ${meaning}`}\n\n**Do:** ${remedy}\n`
}
