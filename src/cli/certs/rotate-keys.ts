import type { Identity } from '../../identity/identity.ts'
import type { KeyName } from '../../identity/replace-key.ts'
import type { Phase } from '../../identity/replacement.ts'
import { type Foreseen, planDocument } from '../../lifecycle/plan-document.ts'
import { authorityNames } from '../../pki/ca.ts'
import { identityFile } from '../cluster-paths.ts'
import { type ExitCode, exitCodes } from '../command.ts'
import { openIdentity, saveIdentity } from '../load-identity.ts'
import { print } from '../print.ts'
import { outcomeNames } from '../run-with-progress.ts'
import { bringTo } from '../up/run-up.ts'
import { listed } from '../format-text.ts'
import { type CertsAction, type CertsWish, certsFlags } from './action.ts'
import { rotateIdentityKey } from './rotate-identity.ts'
import { rotate } from './rotate.ts'
import { settleInside } from './finish-phase.ts'

const otherKeys = ['service-account', 'encryption'] as const

/** `hyperkube certs rotate-ca [kubernetes|etcd|front-proxy|all]` */
export const rotateAuthorities: CertsAction = async (wish) => {
  const [word = 'all', ...more] = wish.words
  const keys = word === 'all' ? authorityNames : authorityNames.filter((name) => name === word)
  if (keys.length === 0 || more.length > 0) return unknown(wish, ['all', ...authorityNames])
  return rotateKeys(wish, `certs rotate-ca ${word}`, keys)
}

/** `hyperkube certs rotate-key service-account|encryption|identity` */
export const rotateKey: CertsAction = async (wish) => {
  const [word = '', ...more] = wish.words
  if (word === 'identity' && more.length === 0) return rotateIdentityKey(wish)
  const keys = otherKeys.filter((name) => name === word)
  if (keys.length === 0 || more.length > 0) return unknown(wish, [...otherKeys, 'identity'])
  return rotateKeys(wish, `certs rotate-key ${word}`, keys)
}

function unknown({ context }: CertsWish, names: readonly string[]): ExitCode {
  context.stderr.write(`USAGE: which one? ${names.join(', ')}\n  → hyperkube certs --help\n`)
  return exitCodes.usage
}

async function rotateKeys(wish: CertsWish, command: string, wanted: readonly KeyName[]): Promise<ExitCode> {
  const { context, options, cluster, findings } = wish
  const { dryRun, progress } = certsFlags.parse(options)
  const { name } = cluster.metadata
  let foreseen: Foreseen | undefined
  const load = async (): Promise<Identity> => openIdentity(context, options, name)
  const { code, keys } = await rotate({
    keys: wanted,
    load,
    save: async (identity) => saveIdentity(context, options, identity),
    bring: async (identity, keep) => {
      const end = await bringTo(context, options, { command, cluster, findings, identity, keep })
      foreseen = end.foreseen
      return end.code
    },
    settle: async (key, phase) => settleInside(wish, command, key, phase),
    say: (phases) => {
      // A program reads events there.
      if (progress !== 'json') context.stderr.write(`${phaseText(phases)}\n`)
    },
    dryRun,
    now: context.now,
  })
  if (code === exitCodes.usage) return code
  const result = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'KeyRotationResult',
    cluster: name,
    keys,
    outcome: outcomeNames[code],
  }
  const document = foreseen === undefined ? result : planDocument(foreseen)
  const rest = wanted.filter((key) => !keys.includes(key))
  print(context.stdout, options.output, document, () => endText(keys, rest, code, identityFile(options.file)))
  return code
}

const meanings: Readonly<Record<Phase, string>> = {
  trust: '1 of 3: the new one is known to all, and not used yet',
  switch: '2 of 3: the new one is used, and the former one still trusted',
  distrust: '3 of 3: the former one is trusted no more',
}

/** `kubernetes, etcd: 1 of 3: …` */
function phaseText(phases: ReadonlyMap<KeyName, Phase>): string {
  return [...Map.groupBy(phases.keys(), (key) => phases.get(key) ?? 'trust')]
    .map(([phase, keys]) => `${listed(keys)}: ${meanings[phase]}`)
    .join('\n')
}

function endText(keys: readonly KeyName[], rest: readonly KeyName[], code: ExitCode, file: string): string {
  if (code !== exitCodes.ok) return ''
  const people = keys.includes('kubernetes')
    ? 'kubeconfigs that were handed out are of no use any more: hyperkube kubeconfig\n'
    : ''
  const others =
    rest.length === 0 ? '' : `${listed(rest)}: not begun, as others were under way; the same command again\n`
  return `${listed(keys)}: replaced; nothing trusts the former ${keys.length === 1 ? 'one' : 'ones'} any more\n${others}${people}${file} has changed: keep it in git\n`
}
