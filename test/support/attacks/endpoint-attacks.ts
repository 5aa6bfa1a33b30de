import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Host } from '../../../lab/hosts/host.ts'
import type { Attack, AttackContext, Attacker } from './attack.ts'

/** Builds an attack on a command of the operator. The attack is refused if the command reports `code`. */
function buildCommandAttack(
  { cluster }: AttackContext,
  attacker: Attacker,
  what: string,
  code: RegExp,
  args: readonly string[],
): Attack {
  return {
    attacker,
    what,
    run: async () => {
      const { code: exitCode, stdout, stderr } = await cluster.hyperkube(...args)
      return {
        refused: exitCode !== 0 && code.test(stderr + stdout),
        details: `${exitCode} ${stderr}${stdout}`,
      }
    },
  }
}

/**
 * Attacks of a mirror that serves other programs, together with matching checksum files. `overrides` is the
 * directory of files that the mirror serves instead of its own.
 */
export async function withHostileMirror(
  context: AttackContext,
  { overrides, kubernetes }: { readonly overrides: string; readonly kubernetes: string },
  attack: (attacks: readonly Attack[]) => Promise<void>,
): Promise<void> {
  const attacker = 'hostile mirror' as const
  const directory = join(overrides, `dl.k8s.io/release/v${kubernetes}/bin/linux/amd64`)
  await mkdir(directory, { recursive: true })
  try {
    for (const program of ['kubelet', 'kube-apiserver', 'kubectl']) {
      const content = `#!/bin/sh\n# another ${program}\n`
      await writeFile(join(directory, program), content)
      const digest = createHash('sha256').update(content).digest('hex')
      await writeFile(join(directory, `${program}.sha256`), digest)
    }
    await attack([
      buildCommandAttack(
        context,
        attacker,
        'replace programs and checksums before lock',
        /LOCK_DIGEST_(CHANGED|REFUSED)/,
        ['lock'],
      ),
      buildCommandAttack(
        context,
        attacker,
        'replace programs and checksums before lock --check',
        /LOCK_DIGEST_(CHANGED|REFUSED)/,
        ['lock', '--check'],
      ),
      buildCommandAttack(
        context,
        attacker,
        'replace the kubectl that the operator runs',
        /PROGRAM_CHANGED|DOWNLOAD|SHA-256/,
        ['kubectl', 'version'],
      ),
    ])
  } finally {
    await rm(dirname(directory), { recursive: true })
  }
}

/** Attacks of a machine that answers at the address of w2, but has another ssh host key. */
export async function withHostileSsh(
  context: AttackContext,
  host: Host,
  attack: (attacks: readonly Attack[]) => Promise<void>,
): Promise<void> {
  const attacker = 'hostile SSH endpoint' as const
  const changed = /SSH_HOST_KEY_(CHANGED|UNKNOWN)/
  await host.script(`cp -a /etc/ssh /root/ssh-before; rm /etc/ssh/ssh_host_*
    ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key; systemctl restart ssh`)
  try {
    await attack([
      buildCommandAttack(context, attacker, 'answer plan as w2', changed, ['plan', '--limit', 'w2']),
      buildCommandAttack(context, attacker, 'answer up as w2', changed, ['up', '--yes', '--limit', 'w2']),
      buildCommandAttack(context, attacker, 'answer logs as w2', /the ssh host key of w2 has changed/, [
        ...['logs', 'kubelet', '--limit', 'w2'],
      ]),
      buildCommandAttack(context, attacker, 'receive new certificates as w2', changed, [
        ...['certs', 'renew', 'w2', '--all', '--yes'],
      ]),
    ])
  } finally {
    await host.script(`rm -rf /etc/ssh; mv /root/ssh-before /etc/ssh; systemctl restart ssh`)
  }
}
