import { type Area, areas } from '../src/error-codes/error-codes.ts'
import type { Entry } from '../src/error-codes/entry.ts'
import { anchor } from './anchor.ts'

/** docs/reference/errors.md, from the catalogue: every code there is, in the order in which a person meets it. */
export function errorsReference(): string {
  return `# Errors and warnings

Made by \`npm run reference\` from src/findings; do not edit. A code keeps its meaning from release to release, so it can be
searched for, and a program can rely on it: with \`-o json\` it stands in \`code\` of each finding. What a message says of the
case at hand, above all its hint, goes before what is said here. What a command's end means is in
[exit codes](exit-codes.md).

${areas.map(({ title }) => `- [${title}](#${anchor(title)})`).join('\n')}

${areas.map(section).join('\n')}`
}

function section({ title, entries }: Area): string {
  return `## ${title}\n\n${Object.entries(entries)
    .map(([code, entry]) => paragraph(code, entry))
    .join('\n')}`
}

function paragraph(code: string, { summary, meaning, remedy }: Entry): string {
  return `### ${code}\n\n${meaning === undefined ? summary : `${summary} ${meaning}`}\n\n**Do:** ${remedy}\n`
}
