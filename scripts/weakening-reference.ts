import { formatSettingName, type SettingValue, type WeakeningSetting } from '../src/spec/weakening/setting.ts'
import { weakeningSettings } from '../src/spec/weakening/weakening-settings.ts'
import { renderTable } from './markdown-table.ts'

/** Renders docs/reference/weakening-settings.md from the table of settings that weaken a cluster. */
export function renderWeakeningReference(): string {
  const components = [...new Set(weakeningSettings.map(({ component }) => component))]
  return `# Settings that weaken a cluster

Made by \`npm run reference\` from the table in src/spec/weakening; do not edit. hyperkube checks these flags and configuration values of
\`spec.components\` and of \`components\` of a host. \`hyperkube validate\` prints each finding with its line.

- **refused**: an error, [\`FLAG_WEAKENS\`](errors.md#flag_weakens) or [\`CONFIG_WEAKENS\`](errors.md#config_weakens). No command accepts the file.
- **reported**: a warning with the same code. The value is used.
- **allowed**: accepted silently, for the reason in the last column.

The values are examples. The [OIDC flags](../explanation/security.md#oidc) have rules of their own.

${components.map(renderSection).join('\n')}`
}

const verdicts = { error: 'refused', warning: 'reported', allowed: 'allowed' } as const

function renderSection(component: string): string {
  const rows = weakeningSettings.filter((setting) => setting.component === component).map(renderRow)
  return `## ${component}

${renderTable(['setting', 'weak', 'safe', '', 'what happens'], rows)}
`
}

function renderRow(setting: WeakeningSetting): string[] {
  const { severity, weak, safe, consequence } = setting
  const reason = setting.severity === 'allowed' ? ` (allowed: ${setting.reason})` : ''
  return [
    `\`${formatSettingName(setting)}\``,
    formatValue(weak),
    formatValue(safe),
    verdicts[severity],
    `${consequence}${reason}`,
  ]
}

function formatValue(value: SettingValue): string {
  const text = typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
  return `\`${text.replaceAll('|', String.raw`\|`)}\``
}
