require_relative 'verify'

def decode(field) = field.unpack1('m0')

$stdin.each_line(chomp: true) do |line|
  id, secrets, body, header, now = line.split("\t", -1)
  known = secrets.empty? ? [''] : secrets.split(',', -1).map { |secret| decode(secret) }
  given = header == '-' ? nil : decode(header).force_encoding('UTF-8')
  puts "#{id}\t#{verify(known, decode(body), given, Integer(now))}"
end
