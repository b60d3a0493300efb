import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.stream.Stream;

final class Judge {
  public static void main(String[] arguments) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      var fields = line.split("\t", -1);
      var secrets = Stream.of(fields[1].split(",", -1)).map(Judge::text).toList();
      var header = fields[3].equals("-") ? null : text(fields[3]);
      var body = Base64.getDecoder().decode(fields[2]);
      var verdict = Signature.verify(secrets, body, header, Long.parseLong(fields[4]));
      System.out.println(fields[0] + "\t" + verdict);
    }
  }

  private static String text(String field) {
    return new String(Base64.getDecoder().decode(field), StandardCharsets.UTF_8);
  }
}
