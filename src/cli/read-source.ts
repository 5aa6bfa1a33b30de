import { hasCode, HyperkubeError } from '../kit/errors.ts'
import type { Source } from '../spec/document.ts'
import type { Context } from './command.ts'

/** The text of a cluster.yml, or a clear word on why it could not be had. */
export async function readSource({ readFile }: Context, file: string): Promise<Source> {
  try {
    return { file, text: await readFile(file) }
  } catch (cause) {
    const missing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError('SPEC_NOT_READ', `${file} ${missing ? 'does not exist' : 'could not be read'}`, {
      hint: missing
        ? 'cd to its directory, or name it with -f; for a new cluster: hyperkube init'
        : `look at ls -l ${file}`,
      ...(missing ? {} : { cause }),
    })
  }
}
