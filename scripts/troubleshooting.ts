import { errorCodes } from '../src/error-codes/error-codes.ts'
import { type ErrorCodeEntry, symptoms } from '../src/error-codes/entry.ts'
import { formatAnchor } from './anchor.ts'

/** Renders docs/troubleshooting.md from the error codes: from the symptom to possible causes and commands. */
export function renderTroubleshooting(): string {
  return `# Troubleshooting

Made by \`npm run reference\` from src/error-codes; do not edit.

\`hyperkube doctor\` lists the problems of a running cluster, cause first: the evidence, the meaning, and the command to run. It works
while the API or hosts are down. Every message of every command has a code, and [the errors reference](reference/errors.md) explains each.
\`hyperkube explain CODE\` prints the explanation of one code.
This page begins with what you see. You can run each command of this page again: it does not repeat what is done.

${symptoms.map(([, { title }]) => `- [${title}](#${formatAnchor(title)})`).join('\n')}
- [You want to stop](#you-want-to-stop)
- [Your problem is not listed](#your-problem-is-not-listed)

${symptoms.map(([id, { title, first, more }]) => renderSection(id, title, first, more)).join('\n')}
## You want to stop

Press Ctrl-C once. Hosts finish their current operations, the operator lock is released, and the exit code is 130. \`hyperkube up\`
continues from there.

After a second Ctrl-C the command ends at once, and hosts finish by themselves. The next command from the same machine takes over the operator lock. For
other machines it is free after a minute.

## Your problem is not listed

\`hyperkube status\` shows the health of every host and component. \`hyperkube logs COMPONENT\` shows the log of a component on all hosts, merged by time. The log
of the last run is the newest file in \`~/.local/state/hyperkube/runs/CLUSTER/\`, with one event per line. \`hyperkube support-bundle\` collects diagnostics
without secrets for the people who help you. [Exit codes](reference/exit-codes.md) are for scripts.
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
