import { Argument } from 'commander'
import { loadCluster } from '../../workspace/load-cluster.ts'
import type { CertsAction } from '../certs/action.ts'
import { listCertificates } from '../certs/list.ts'
import { renewClusterCertificates } from '../certs/renew.ts'
import { rotatableCas, rotatableKeys, rotateCas, rotateKey } from '../certs/rotate-keys.ts'
import { type CommandGroup, exitCodes, type LeafCommand } from '../command/command.ts'
import { formatFindings } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { addUpFlags } from '../up/up-flags.ts'

/** Builds a subcommand from its action, which needs a valid cluster.yml. */
function buildCertsCommand(action: CertsAction, definition: Omit<LeafCommand, 'run'>): LeafCommand {
  return {
    ...definition,
    async run(context, { args, options }) {
      const { cluster, findings } = await loadCluster(context, options.file)
      if (cluster !== undefined) return action({ context, options, cluster, findings, args })
      context.stderr.write(formatFindings(findings))
      return exitCodes.failure
    },
  }
}

export const certsCommand: CommandGroup = {
  subcommands: [
    {
      name: 'list',
      summary: 'List certificates with owner, expiry and renewal date',
      definition: buildCertsCommand(listCertificates, {
        examples: [
          ['hyperkube certs list', 'list certificates of all hosts'],
          ['hyperkube certs list cp1 -o wide', 'list certificates of one host with all details'],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) => command.addArgument(new Argument('[host...]', 'hosts (default: all)')),
      }),
    },
    {
      name: 'renew',
      summary: 'Renew certificates',
      definition: buildCertsCommand(renewClusterCertificates, {
        examples: [
          ['hyperkube certs renew', 'show due and expired certificates, prompt, then renew'],
          ['hyperkube certs renew w1 w2 --all', 'renew all certificates of two hosts with new keys'],
        ],
        sharedFlags: ['file', 'key', 'output', 'confirm'],
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('[host...]', 'hosts (default: all)'))
                .option('--all', 'include certificates that are not due'),
            ),
          ),
      }),
    },
    {
      name: 'rotate-ca',
      summary: 'Rotate a CA: trust both, switch, distrust the previous CA',
      definition: buildCertsCommand(rotateCas, {
        examples: [
          ['hyperkube certs rotate-ca etcd --dry-run', 'show changes of the next of three phases'],
          ['hyperkube certs rotate-ca kubernetes', 'rotate the Kubernetes CA'],
          [
            'hyperkube certs rotate-ca all --yes --restart-pods',
            'rotate all three CAs and restart pods without the new CA',
          ],
        ],
        sharedFlags: ['file', 'key', 'output', 'confirm'],
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('[ca]', 'CA (default: all)').choices(rotatableCas))
                .option('--restart-pods', 'restart pods that do not trust the new CA'),
            ),
          ),
      }),
    },
    {
      name: 'rotate-key',
      summary: 'Rotate the encryption, token signing or identity key',
      definition: buildCertsCommand(rotateKey, {
        examples: [
          [
            'hyperkube certs rotate-key encryption',
            'rotate the encryption key and re-encrypt all Secrets in etcd',
          ],
          [
            'hyperkube certs rotate-key service-account',
            'rotate the token signing key; run again after 1h to drop the previous key',
          ],
          ['hyperkube certs rotate-key identity', 're-encrypt cluster.identity with a new key'],
        ],
        sharedFlags: ['file', 'key', 'output', 'confirm'],
        configure: (command) =>
          addUpFlags(
            addRunFlags(
              command
                .addArgument(new Argument('<key>', 'key to rotate').choices(rotatableKeys))
                .option(
                  '--to <file>',
                  'identity: write the new key to this file (default: beside the previous key)',
                ),
            ),
          ),
      }),
    },
  ],
}
