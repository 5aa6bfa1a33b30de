import { errorCodes } from '../src/error-codes/error-codes.ts'
import { type ErrorCodeEntry, symptoms } from '../src/error-codes/entry.ts'
import { formatAnchor } from './anchor.ts'

/** Renders docs/troubleshooting.md from the error codes: from the symptom to possible causes and commands. */
export function renderTroubleshooting(): string {
  return `# Troubleshooting

Made by \`npm run reference\` from src/error-codes; do not edit.

\`hyperkube doctor\` says what is wrong with a cluster that runs: the cause first, what was seen of it, what it means, and what to type. It
works when the API is down and when hosts are. Every message of every command has a code, and
[the errors reference](reference/errors.md) says of each what it means and what to do. Here is the way in from what you see. Nothing
below is made worse by typing the same command again: what is done already is not done twice.

${symptoms.map(([, { title }]) => `- [${title}](#${formatAnchor(title)})`).join('\n')}
- [You want to stop](#you-want-to-stop)
- [Nothing of this](#nothing-of-this)

${symptoms.map(([id, { title, first, more }]) => renderSection(id, title, first, more)).join('\n')}
## You want to stop

Ctrl-C once: hosts finish what they are at, the claim is given back, exit code 130; \`hyperkube up\` goes on from there. Twice: the
command ends at once, hosts finish by themselves, and the next command from the same machine takes the claim over; from another
machine it is free after a minute.

## Nothing of this

\`hyperkube status\` says how every host and part is, \`hyperkube logs COMPONENT\` what a component says on all hosts, merged by time. The log
of the last run is the newest file in \`~/.local/state/hyperkube/runs/CLUSTER/\`, one event a line. \`hyperkube support-bundle\` makes a bundle without secrets for
the people who help you. [Exit codes](reference/exit-codes.md) are for scripts.
`
}

function renderSection(id: string, title: string, first: string, more: string | undefined): string {
  const rows = Object.entries(errorCodes).filter(([, entry]) => entry.symptoms?.some((one) => one === id))
  return `## ${title}

${first}

| it may be | that is | do |
|---|---|---|
${rows.map(([code, entry]) => renderRow(code, entry)).join('\n')}
${more === undefined ? '' : `\n${more}\n`}`
}

function renderRow(code: string, { summary, remedy }: ErrorCodeEntry): string {
  return `| [\`${code}\`](reference/errors.md#${code.toLowerCase()}) | ${escapeCell(summary)} | ${escapeCell(remedy)} |`
}

function escapeCell(text: string): string {
  return text.replaceAll('|', String.raw`\|`)
}
