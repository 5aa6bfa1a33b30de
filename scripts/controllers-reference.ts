import type { ControllerDefinition } from '../src/manager/controller.ts'
import { formatControllerUser, formatRule, informersUser } from '../src/manager/rbac.ts'
import { controllers } from '../src/manager/table.ts'

/** Renders docs/reference/controllers.md from the table of controllers. */
export function renderControllersReference(): string {
  return `# Controllers

Made by \`npm run reference\` from the table in src/manager; do not edit. \`hyperkube controller-manager list\` prints the same,
\`hyperkube controller-manager rbac\` prints the RBAC rules as objects.

They run on every control plane as the service \`hyperkube-controller-manager\`, and work where it leads. Which are on says
[\`spec.manager.controllers\`](cluster.md#manager); how to write one, [a guide](../how-to/add-a-controller.md). Each acts under an identity of its own,
\`${formatControllerUser({ name: 'NAME' })}\`, by which audit logs name it. All of them learn of objects through watches that they share, under
\`${informersUser}\`.

| controller | by default | what it does |
|---|---|---|
${controllers.map(({ name, byDefault, summary }) => `| [\`${name}\`](#${name}) | ${byDefault ? 'on' : 'off'} | ${summary} |`).join('\n')}

${controllers.map(renderSection).join('\n')}`
}

function renderSection({ name, aliases, summary, byDefault, watches, rules }: ControllerDefinition): string {
  const rows = [
    ['by default', byDefault ? 'on' : 'off'],
    ['also called', aliases.map((alias) => `\`${alias}\``).join(', ')],
    ['watches', watches.map((one) => one.name).join(', ')],
    ['may', rules.map(formatRule).join('; ')],
  ].filter(([, value]) => value !== '')
  return `## ${name}

It ${summary}.

| | |
|---|---|
${rows.map(([label, value]) => `| ${label} | ${value} |`).join('\n')}
`
}
