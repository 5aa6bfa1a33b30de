import { textAt } from './facts.ts'
import { drop, mapped, parsed, refuse, type Rule, type Seen, type Table, take, unsupported } from './rule.ts'
import { text } from './scalars.ts'

/** A registry as it stands in image names: without scheme, and without who logs in. */
function hostOf(url: string): string {
  const host = url
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^.*@/, '')
    .replace(/\/+$/, '')
  return host === '' ? 'docker.io' : host
}

const url: Rule = ({ value, holes }) =>
  parsed(text, value, (written) => take(['spec', 'registries', holes[0] ?? 0, 'host'], hostOf(written)))

/** The name under which the password is to be kept. */
function secretName({ facts, holes }: Seen): string {
  const written = textAt(facts.root, ['private_registries', holes[0] ?? 0, 'url']) ?? ''
  const label = hostOf(written)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 50)
    .replace(/^-+|-+$/g, '')
  return label.startsWith('registry') ? label : `registry-${label}`.replace(/-$/, '')
}

const password: Rule = (seen) => {
  const secret = secretName(seen)
  const note = `a password is never copied; give it to hyperkube as the secret ${secret}, and change it: it stood in a file`
  return refuse(note, [{ path: ['spec', 'registries', seen.holes[0] ?? 0, 'password'], value: { secret } }])
}

const isDefault: Rule = ({ value }) =>
  value === true
    ? refuse('programs of the engine come from spec.artifacts; set a mirror there')
    : drop('is off, and so it is here')

export const registries: Table = {
  'private_registries[].url': url,
  'private_registries[].user': mapped('spec.registries[].username', text),
  'private_registries[].password': password,
  'private_registries[].is_default': isDefault,
  'private_registries[].ecr_credential_plugin': unsupported(
    'no credential plugins yet; set one with components.kubelet.args, and keep its keys out of cluster.yml',
  ),
}
