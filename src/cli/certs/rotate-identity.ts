import { createKeyFile, readKeyFile, writeIdentity } from '../../identity/store.ts'
import { exitCodes } from '../command.ts'
import { identityPaths, openIdentity } from '../load-identity.ts'
import { print } from '../print.ts'
import { type CertsAction, certsFlags } from './action.ts'

/**
 * `hyperkube certs rotate-key identity`: seals the identity with another key, in a file beside the one that opens it now.
 * That one stays, so that at every moment one of the two opens it; and it opens snapshots from before.
 */
export const rotateIdentityKey: CertsAction = async ({ context, options, cluster }) => {
  const { name } = cluster.metadata
  const paths = identityPaths(context, options, name)
  const file = certsFlags.parse(options).to ?? `${paths.key}.new`
  const identity = await openIdentity(context, options, name)
  // One that is there is of a run that was cut, or the key of several clusters.
  const key = (await context.exists(file))
    ? await readKeyFile(context.privateFiles, file)
    : await createKeyFile(context.privateFiles, file)
  await writeIdentity(context.privateFiles, paths.identity, identity, key)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'IdentityKeyResult',
    cluster: name,
    identity: paths.identity,
    key: file,
    former: paths.key,
  }
  print(context.stdout, options.output, document, () =>
    [
      `${file} opens ${paths.identity} now, and ${paths.key} does no more\n`,
      `  → keep ${paths.key} elsewhere as long as you keep snapshots from before, then: mv ${file} ${paths.key}\n`,
      `  → ${paths.identity} has changed: keep it in git\n`,
    ].join(''),
  )
  return exitCodes.ok
}
