import type { ControllerDefinition } from '../src/manager/controller.ts'
import { formatControllerUser, formatRule, informersUser } from '../src/manager/rbac.ts'
import { controllers } from '../src/manager/table.ts'

/** Renders docs/reference/controllers.md from the table of controllers. */
export function renderControllersReference(): string {
  return `# Controllers

Made by \`npm run reference\` from the table in src/manager; do not edit. \`hyperkube controller-manager list\` prints the same,
\`hyperkube controller-manager rbac\` prints the RBAC rules as objects.

The service \`hyperkube-controller-manager\` on each control plane runs them. They work on the control plane that is the leader.
[\`spec.manager.controllers\`](cluster.md#manager) selects them, and [a guide](../how-to/add-a-controller.md) explains how to write one. Each acts as its
own user, \`${formatControllerUser({ name: 'NAME' })}\`, which audit logs name. They share watches of objects, as the user \`${informersUser}\`.

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
