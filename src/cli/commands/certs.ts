import { Argument } from 'commander'
import type { CertsAction } from '../certs/action.ts'
import { listCertificates } from '../certs/list.ts'
import { renewCertificates } from '../certs/renew.ts'
import { rotateAuthorities, rotateKey } from '../certs/rotate-keys.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { findingsText } from '../print.ts'
import { addRunFlags } from '../run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'

const actions: ReadonlyMap<string, CertsAction> = new Map([
  ['list', listCertificates],
  ['renew', renewCertificates],
  ['rotate-ca', rotateAuthorities],
  ['rotate-key', rotateKey],
])

export const certs: CommandDefinition = {
  examples: [
    ['hyperkube certs list', 'every certificate of every host: whose it is, until when, and when it is due'],
    ['hyperkube certs renew', 'show which are due, ask, and renew them; also those that have expired'],
    ['hyperkube certs renew w1 w2 --all', 'new keys for all certificates of two hosts'],
    ['hyperkube certs rotate-ca etcd --dry-run', 'say what the next of three phases would do'],
    ['hyperkube certs rotate-ca kubernetes', 'a new authority: trust both, switch, distrust the former'],
    ['hyperkube certs rotate-ca all --yes --restart-pods', 'all three, with pods that must learn of it'],
    ['hyperkube certs rotate-key encryption', 'a new key for Secrets in etcd, and write all of them with it'],
    [
      'hyperkube certs rotate-key service-account',
      'a new key for tokens; again after an hour drops the former',
    ],
    ['hyperkube certs rotate-key identity', 'seal cluster.identity with another key'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'what to do').choices([...actions.keys()]))
      .addArgument(new Argument('[name...]', 'list, renew: hosts; rotate-ca, rotate-key: which'))
      .option('--all', 'renew: also certificates that are good for long')
      .option('--to <file>', 'rotate-key identity: where the new key goes; default: beside the former')
      .option('--restart-pods', 'rotate-ca: make pods anew that would not trust the new authority')
    addUpFlags(addRunFlags(command))
  },
  async run(context, { args, options }) {
    const [action = '', ...words] = args
    const { cluster, findings } = await loadCluster(context, options.file)
    if (cluster === undefined) {
      context.stderr.write(findingsText(findings))
      return exitCodes.failure
    }
    const wish = { context, options, cluster, findings, words }
    return (await actions.get(action)?.(wish)) ?? exitCodes.usage
  },
}
