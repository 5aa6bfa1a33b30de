import { hasCode, HyperkubeError } from '../kit/errors.ts'
import type { SourceText } from '../spec/document.ts'
import type { CommandContext } from './command.ts'

/** Reads the text of cluster.yml. Throws an error with a hint if it cannot be read. */
export async function readClusterSource({ readFile }: CommandContext, file: string): Promise<SourceText> {
  try {
    return { file, text: await readFile(file) }
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT')
    throw new HyperkubeError(
      'SPEC_NOT_READ',
      `${file} ${isMissing ? 'does not exist' : 'could not be read'}`,
      {
        hint: isMissing
          ? 'cd to its directory, or name it with -f; for a new cluster: hyperkube init'
          : `look at ls -l ${file}`,
        ...(isMissing ? {} : { cause }),
      },
    )
  }
}
