import { hasCode } from '../../kit/errors.ts'

/**
 * Returns the result, or undefined if hyperkube is not installed on the host any more. A rollback or a reset of a
 * killed command continues on its host, and ends with the removal of the agent.
 */
export async function unlessAgentMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result
  } catch (error) {
    if (!hasCode(error, 'AGENT_NOT_THERE')) throw error
    return undefined
  }
}
