import { looseText, textAt } from './facts.ts'
import {
  dropKey,
  type KeyRule,
  mapKey,
  mapRule,
  parseValue,
  refuseKey,
  type RuleInput,
  type RuleTable,
  unsupportedRule,
} from './rule.ts'

/** Returns the host of a registry as in image names, without scheme and credentials. */
function parseRegistryHost(url: string): string {
  const host = url
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^.*@/, '')
    .replace(/\/+$/, '')
  return host === '' ? 'docker.io' : host
}

const url: KeyRule = ({ value, captures }) =>
  parseValue(looseText, value, (written) =>
    mapKey(['spec', 'registries', captures[0] ?? 0, 'host'], parseRegistryHost(written)),
  )

/** Returns the name of the secret that will hold the registry's password. */
function secretName({ facts, captures }: RuleInput): string {
  const written = textAt(facts.root, ['private_registries', captures[0] ?? 0, 'url']) ?? ''
  const label = parseRegistryHost(written)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '')
  return label.startsWith('registry') ? label : `registry-${label}`.replace(/-$/, '')
}

const password: KeyRule = (input) => {
  const secret = secretName(input)
  const note = `passwords are never copied; change it, then store it: hyperkube secret set ${secret}`
  return refuseKey(note, [
    { path: ['spec', 'registries', input.captures[0] ?? 0, 'password'], value: { secret } },
  ])
}

const isDefault: KeyRule = ({ value }) =>
  value === true
    ? refuseKey('Kubernetes binaries come from spec.artifacts; set a mirror there')
    : dropKey('off in both')

export const rke1RegistryRules: RuleTable = {
  'private_registries[].url': url,
  'private_registries[].user': mapRule('spec.registries[].username', looseText),
  'private_registries[].password': password,
  'private_registries[].is_default': isDefault,
  'private_registries[].ecr_credential_plugin': unsupportedRule(
    'credential plugins are not supported yet; use components.kubelet.args, and keep keys out of cluster.yml',
  ),
}
