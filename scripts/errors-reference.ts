import { type ErrorCodeArea, errorCodeAreas } from '../src/error-codes/error-codes.ts'
import type { ErrorCodeEntry } from '../src/error-codes/entry.ts'
import { formatAnchor } from './anchor.ts'

/** Renders docs/reference/errors.md from the error codes, with one section for each area. */
export function renderErrorsReference(): string {
  return `# Error codes

Made by \`npm run reference\` from src/error-codes; do not edit. These are the codes of all errors and warnings. A code keeps its meaning from release to release.
Programs can use it: with \`-o json\` it is the field \`code\` of each finding. If a message has a hint, follow the hint first. \`hyperkube explain CODE\` prints the entry of a code without a network. The exit codes of commands are on [another page](exit-codes.md).

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
