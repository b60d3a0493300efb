import { stat } from 'node:fs/promises'

/**
 * The same for two paths of one file, such as a link, and another for a file that replaced it.
 *
 * @throws Error when there is no such file
 */
export async function identityOf(file: string): Promise<string> {
  const { dev, ino } = await stat(file)
  return `${dev}:${ino}`
}
